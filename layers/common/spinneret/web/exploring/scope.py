"""Scope of a crawl: the URLs that belong to it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from spinneret.web.exploring.globs import UrlPatterns, compile_patterns
from spinneret.web.fetching.urls import Url, registrable_domain

_FILE: Final = re.compile(r".*\.[A-Za-z][A-Za-z0-9]{1,4}")  # unlike `v1.2` and `1.2.x`


class ScopeKind(StrEnum):
    """Which URLs belong to a crawl, relative to its start URLs."""

    HOST = "host"
    """The same host and port, with or without `www.`; http and https are equal."""
    DOMAIN = "domain"
    """The same registrable domain (by the public-suffix list), any port."""
    PREFIX = "prefix"
    """The same host, in the folder of the URL: `/docs/` and `/docs/intro.html` mean `/docs/…`, and
    `/docs` means itself and `/docs/…`, but not `/docsearch`. `/docs/v1.2` is no file either."""


class ScopeRefusal(StrEnum):
    """Why a URL doesn't belong to the crawl."""

    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"


@dataclass(frozen=True)
class CrawlScope:
    """URLs that belong to a crawl; built by `of`.

    An excluding pattern wins over an including one.
    """

    kind: ScopeKind
    places: frozenset[str]
    """Values that `kind` compares: host and port, registrable domain, or host, port and folder."""
    include: UrlPatterns = field(default_factory=UrlPatterns)
    """Empty includes everything in `places`."""
    exclude: UrlPatterns = field(default_factory=UrlPatterns)

    @classmethod
    def of(
        cls,
        kind: ScopeKind,
        roots: Iterable[Url],
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
    ) -> Self:
        """Return the scope around these URLs. Raises ValidationFailed for invalid patterns."""
        return cls(
            kind=kind,
            places=frozenset(_place(kind, root) for root in roots),
            include=compile_patterns(include, "include"),
            exclude=compile_patterns(exclude, "exclude"),
        )

    def refusal(self, url: Url) -> ScopeRefusal | None:
        """Return why a URL doesn't belong, or None if it does."""
        if not self._holds(url):
            return ScopeRefusal.OUT_OF_SCOPE
        if self.exclude.match(url):
            return ScopeRefusal.EXCLUDED
        if self.include and not self.include.match(url):
            return ScopeRefusal.NOT_INCLUDED
        return None

    def _holds(self, url: Url) -> bool:
        match self.kind:
            case ScopeKind.HOST:
                return site_of(url) in self.places
            case ScopeKind.DOMAIN:
                return registrable_domain(url.host) in self.places
            case ScopeKind.PREFIX:
                return self._is_below(url)

    def _is_below(self, url: Url) -> bool:
        here = site_of(url) + url.path
        return any(
            here.startswith(place) if place.endswith("/") else f"{here}/".startswith(f"{place}/")
            for place in self.places
        )


def site_of(url: Url) -> str:
    """Return the host without `www.`, and the port unless it is the scheme's default."""
    host = url.host.removeprefix("www.") if url.host.count(".") > 1 else url.host
    return host if url.unusual_port is None else f"{host}:{url.port}"


def _place(kind: ScopeKind, root: Url) -> str:
    match kind:
        case ScopeKind.HOST:
            return site_of(root)
        case ScopeKind.DOMAIN:
            return registrable_domain(root.host)
        case ScopeKind.PREFIX:
            folder, _, last = root.path.rpartition("/")
            return site_of(root) + (f"{folder}/" if _FILE.fullmatch(last) else root.path)
