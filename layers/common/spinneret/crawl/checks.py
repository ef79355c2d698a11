"""Validate submissions of pages and build their crawl jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from spinneret.content.collections.service import CollectionService
from spinneret.content.documents.models import DocumentSource
from spinneret.content.tags.service import TagService
from spinneret.crawl.configs.models import Config, snapshot_of
from spinneret.crawl.configs.rendering import Rendering, rendering_of
from spinneret.crawl.configs.service import ConfigService
from spinneret.crawl.kinds import CRAWL, RENDERED_CRAWL
from spinneret.crawl.models import CrawlOptions, CrawlRequest, PageOptions
from spinneret.jobs.models import Draft, Priority
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import (
    CircuitOpen,
    DomainBlocked,
    DomainError,
    PermanentError,
    ValidationFailed,
)
from spinneret.kernel.service import service
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission
from spinneret.web.fetching.urls import Url, cache_url
from spinneret.web.hosts.service import HostService
from spinneret.web.proxies.service import ProxyService

RECIPE: Final = 2  # increment it when the same page would yield another result


@dataclass(frozen=True, kw_only=True)
class CrawlTerms:
    """Terms that all crawls of one submission share."""

    notify: tuple[str, ...]
    config: Config | None = None
    proxy_config_id: str | None = None
    collection_id: str | None = None
    tag_ids: tuple[str, ...] = ()
    source_id: str | None = None
    source: DocumentSource = DocumentSource.CRAWL
    """Source that the documents record."""
    priority: Priority = Priority.NORMAL
    force: bool = False
    same: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Further values by which two crawls of one URL differ."""
    once: bool = False
    """See Draft.once."""
    rendering: Rendering | None = None
    """Rendering of the pages in a browser; None if they are only fetched."""

    @property
    def kind(self) -> str:
        """Kind of the crawls."""
        return CRAWL if self.rendering is None else RENDERED_CRAWL

    def payload(self, url: Url) -> dict[str, Any]:
        """Build the payload of a crawl of this URL."""
        given = {
            "proxy_config_id": self.proxy_config_id,
            "config": None if self.config is None else snapshot_of(self.config),
            "rendering": None if self.rendering is None else self.rendering.item(),
            "collection_id": self.collection_id,
            "tag_ids": list(self.tag_ids) or None,
            "source_id": self.source_id,
            "source": None if self.source is DocumentSource.CRAWL else self.source.value,
        }
        return {
            "url": url.text,
            **{name: value for name, value in given.items() if value is not None},
        }

    def identity(self, kind: str, recipe: int, url: Url) -> dict[str, Any]:
        """Return the values by which two jobs of a kind are compared as duplicates."""
        same: dict[str, Any] = {"kind": kind, "recipe": recipe, "url": cache_url(url), **self.same}
        if self.proxy_config_id is not None:  # a host may respond differently to other addresses
            same["proxy_config_id"] = self.proxy_config_id
        if self.rendering is not None:
            same["rendering"] = self.rendering.item()
        if self.config is not None:
            same["config"] = [self.config.id, self.config.version]
        if self.collection_id is not None:
            same["collection_id"] = self.collection_id
        return same

    def draft(self, url: Url) -> Draft:
        """Build the draft of a job that crawls this URL."""
        same = self.identity(self.kind, RECIPE, url)
        return Draft(
            kind=self.kind,
            payload=self.payload(url),
            priority=self.priority,
            domain=url.host,
            notify=self.notify,
            duplicate_key=None if self.force else fingerprint(same),
            once=self.once,
        )


@service
class CrawlChecks:
    """Validate one tenant's submissions."""

    policy: AddressPolicy
    hosts: HostService
    proxies: ProxyService
    configs: ConfigService
    collections: CollectionService
    tags: TagService

    def terms(
        self,
        tenant: str,
        options: PageOptions,
        notify: tuple[str, ...],
        same: Mapping[str, Any] | None = None,
    ) -> CrawlTerms:
        """Build the terms without tag ids, so that a refused request creates no tags.

        Raises what the checks of proxies, collection and config raise.
        """
        if options.proxy_config_id is not None:
            self.proxies.require(tenant, options.proxy_config_id)
        if options.collection_id is not None:
            self.collections.get(tenant, options.collection_id)
        config = self.configs.in_force(tenant, options.config_id)
        return CrawlTerms(
            notify=notify,
            config=config,
            rendering=self._rendering(options, config),
            proxy_config_id=options.proxy_config_id,
            collection_id=options.collection_id,
            priority=options.priority,
            force=options.force,
            same=same or {},
        )

    def crawl_terms(
        self, tenant: str, options: CrawlOptions, notify: tuple[str, ...]
    ) -> CrawlTerms:
        """See `terms`; crawls with another webhook aren't duplicates."""
        same: dict[str, Any] = {}
        if options.webhook_url is not None:
            same["webhook_url"] = options.webhook_url
            same["webhook_headers"] = options.webhook_headers
        return self.terms(tenant, options, notify, same)

    def source_terms(
        self, tenant: str, source_id: str, config_id: str | None, collection_id: str | None
    ) -> CrawlTerms:
        """Build the terms of a source's crawls.

        Raises NotFound, and what `ConfigService.check_rendering` raises.
        """
        if collection_id is not None:
            self.collections.get(tenant, collection_id)
        config = self.configs.in_force(tenant, config_id)
        rendering = None if config is None else config.options.rendering
        self.configs.check_rendering(rendering, None if config is None else config.sealed_headers)
        return CrawlTerms(
            notify=(),
            config=config,
            rendering=rendering,
            collection_id=collection_id,
            source_id=source_id,
            priority=Priority.LOW,
            force=True,
        )

    def _rendering(self, options: PageOptions, config: Config | None) -> Rendering | None:
        """Return the rendering that the request names, else its config's.

        Raises as `ConfigService.check_rendering`, and ValidationFailed for proxies.
        """
        asked = options.render if isinstance(options, CrawlRequest) else None
        if isinstance(options, CrawlRequest) and asked is not None:
            found = rendering_of(asked, options.wait_for, options.wait_seconds)
        else:
            found = None if config is None else config.options.rendering
        self.configs.check_rendering(found, None if config is None else config.sealed_headers)
        proxies = None if config is None else config.options.proxy_config_id
        if found is not None and (options.proxy_config_id or proxies) is not None:
            raise ValidationFailed.of_field("render", "a browser uses no proxies")
        return found

    def require_unrendered(self, terms: CrawlTerms) -> None:
        """Raise ValidationFailed if the terms render pages, which deep crawls don't."""
        if terms.rendering is not None:
            raise ValidationFailed.of_field(
                "render",
                "deep crawls don't render pages",
                "name a config without render, or crawl the pages as a batch",
            )

    def require_listed(self, options: PageOptions, terms: CrawlTerms) -> None:
        """Raise ValidationFailed if a list of URLs names a config with a depth.

        A list crawls only the pages that it names. A default config applies except for its depth,
        since the request doesn't name it.
        """
        if options.config_id is None or terms.config is None or not terms.config.options.max_depth:
            return
        message = (
            f"this config's max_depth is {terms.config.options.max_depth}, but a list crawls only "
            "its own pages: use a config of depth 0, or submit each URL as a deep crawl"
        )
        raise ValidationFailed.of_field("config_id", message)

    def tagged(self, tenant: str, options: PageOptions, terms: CrawlTerms) -> CrawlTerms:
        """Add the tag ids; create missing tags."""
        if not options.tags:
            return terms
        found = self.tags.named(tenant, options.tags)
        return replace(terms, tag_ids=tuple(tag.id for tag in found))

    def url(self, tenant: str, url: str) -> Url:
        """Parse the URL. Raises UrlInvalid, UrlBlocked, DomainBlocked and CircuitOpen."""
        parsed = check_url_at_submission(url, self.policy)
        self.hosts.check_submission(tenant, parsed.host, parsed.unusual_port)
        return parsed

    def parsed(
        self, url: str, refusal: Callable[[str, int | None], DomainError | None]
    ) -> Url | DomainError:
        """Parse the URL; return the error if it may not be crawled."""
        try:
            parsed = check_url_at_submission(url, self.policy)
        except PermanentError as error:
            return error
        return refusal(parsed.host, parsed.unusual_port) or parsed

    def refusal(self, tenant: str, host: str, port: int | None) -> DomainError | None:
        """Return the error if the host may not be crawled for the tenant now, else None."""
        try:
            self.hosts.check_submission(tenant, host, port)
        except (DomainBlocked, CircuitOpen) as error:
            return error
        return None
