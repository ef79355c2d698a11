"""Files of the console, ready to be served.

The page `index.html` names all other files below a folder that is called like the digest of all
files. So a browser may keep them without asking again, and never mixes files of two releases.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.kernel.errors import NotFound
from spinneret.kernel.settings import names
from spinneret.runtime.http.static_text import StaticText, hash_source, static_text

PACKAGE: Final = "spinneret_console"
PAGE: Final = "index.html"
ICON: Final = "icon.svg"
INBOX_ORIGINS: Final = names("INBOX_ORIGINS", frozenset())
"""Origins of the bucket that pages send files to, if it has another one than the API."""
MEDIA_ORIGINS: Final = names("MEDIA_ORIGINS", frozenset())
"""Origins of the bucket whose images pages show, if it has another one than the API."""
_VERSION: Final = "VERSION"
"""Placeholder of the digest in the page."""
_TYPES: Final[Mapping[str, str]] = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}
_REVALIDATED: Final = "no-cache"
_FOREVER: Final = "public, max-age=31536000, immutable"
_INLINE: Final = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)
_POLICY: Final = (
    "default-src 'none'; script-src {scripts}; style-src 'self'; img-src {images}; "
    "connect-src {requests}; base-uri 'none'; object-src 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_ALWAYS: Final[Mapping[str, str]] = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Strict-Transport-Security": "max-age=31536000",
}


@dataclass(frozen=True, kw_only=True)
class ConsoleSite:
    """All files of one release."""

    version: str
    """Digest of all files."""
    page: StaticText
    icon: StaticText
    parts: Mapping[str, StaticText]
    """The other files, by `folder/name`."""

    def part(self, version: str, name: str) -> StaticText:
        """Return the file of this release. Raises NotFound for others."""
        if version != self.version or name not in self.parts:
            raise NotFound("the console has no such file; reload the page after an update")
        return self.parts[name]


def read_site(
    folder: Traversable, *, inbox: Iterable[str] = (), media: Iterable[str] = ()
) -> ConsoleSite:
    """Return the files of the folder and of its folders that a browser understands.

    `inbox` and `media` are the origins of buckets that the page's policy admits.
    """
    texts = dict(sorted(_texts(folder)))
    digest = hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    page = texts.pop(PAGE).replace(_VERSION, digest)
    policy = _POLICY.format(
        scripts=_sources(map(hash_source, _INLINE.findall(page))),
        images=_sources(media),
        requests=_sources(inbox),
    )
    return ConsoleSite(
        version=digest,
        page=_file(PAGE, page, {"Content-Security-Policy": policy}, _REVALIDATED),
        icon=_file(ICON, texts.pop(ICON), _closed(), _REVALIDATED),
        parts={name: _file(name, text, _closed(), _FOREVER) for name, text in texts.items()},
    )


@reads(INBOX_ORIGINS, MEDIA_ORIGINS)
def site(stage: Stage) -> Callable[[], ConsoleSite]:
    """Return the function that reads the layer's files when the site is first asked for."""
    inbox, media = stage[INBOX_ORIGINS], stage[MEDIA_ORIGINS]
    return cache(lambda: read_site(files(PACKAGE), inbox=inbox, media=media))


def _texts(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for each in folder.iterdir():
        if each.is_dir() and not prefix:
            yield from _texts(each, f"{each.name}/")
        elif any(each.name.endswith(suffix) for suffix in _TYPES):
            yield prefix + each.name, each.read_text(encoding="utf-8")


def _file(name: str, text: str, headers: Mapping[str, str], cached: str) -> StaticText:
    content_type = _TYPES[name[name.rindex(".") :]]
    return static_text(text, content_type, {**_ALWAYS, **headers}, cached=cached)


def _sources(others: Iterable[str]) -> str:
    return " ".join(("'self'", *sorted(others)))


def _closed() -> Mapping[str, str]:
    """Return the policy of a file that somebody opens by itself, such as a picture with scripts."""
    return {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
