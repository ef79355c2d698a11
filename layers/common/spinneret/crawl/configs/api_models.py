"""Requests and responses of crawl configs."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from spinneret.content.chunking.models import ChunkingStrategy
from spinneret.content.extraction.models import ExtractionStrategy
from spinneret.crawl.configs import limits
from spinneret.crawl.configs.models import Config, ConfigOptions
from spinneret.crawl.configs.rendering import RenderMode
from spinneret.crawl.configs.service import ConfigDraft
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf
from spinneret.web.browser import limits as browser_limits

Selector = Annotated[
    str, StringConstraints(min_length=1, max_length=browser_limits.SELECTOR_MAX_CHARS)
]
WaitInPage = Annotated[float, Field(ge=0, le=browser_limits.RENDER_WAIT_SECONDS)]
ConfigName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.CONFIG_NAME_MAX_CHARS),
]
_DEFAULTS = ConfigOptions()


class ConfigRequest(BaseModel):
    """A new or changed config; a PUT replaces all fields, except omitted `headers`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: ConfigName
    """Name, unique within the tenant."""
    max_depth: Annotated[int, Field(ge=0, le=bounds.CRAWL_DEPTH_MAX)] = _DEFAULTS.max_depth
    """Maximum number of links between the URL and a page; above 0 the crawl is a deep crawl.

    The depth applies to crawls of one URL. A list of URLs, a batch or a line of a file is rejected
    if it names a config with a depth. With a default config, these crawl only their own pages.
    Sources of one page obey it. `POST /api/v1/crawl/deep` has its own depth.
    """
    rate_limit_rps: Annotated[
        float, Field(ge=bounds.DOMAIN_RATE_MIN, le=limits.CONFIG_RATE_MAX, strict=False)
    ] = _DEFAULTS.rate_limit_rps
    """Requests per second to one host; a lower limit of the host takes precedence."""
    respect_robots_txt: bool = _DEFAULTS.respect_robots_txt
    """False ignores a site's rules for crawlers: robots.txt, and `nofollow` in deep crawls."""
    headers: Annotated[dict[str, str], Field(repr=False)] = {}
    """Headers sent to the page's origin; secrets in them are never returned.

    A User-Agent must begin with our product token; headers that the fetcher sets are rejected.
    """
    extraction_strategy: Annotated[ExtractionStrategy, Field(strict=False)] = (
        _DEFAULTS.extraction_strategy
    )
    """Selection of the content: the main content as Markdown, additionally as JSON blocks, or the
    complete body."""
    keep_link_targets: bool = _DEFAULTS.keep_link_targets
    """Whether the Markdown contains URLs of links and images; embedded text never does."""
    chunking_strategy: Literal[ChunkingStrategy.SLIDING_WINDOW, ChunkingStrategy.BY_HEADING] = (
        ChunkingStrategy.SLIDING_WINDOW
    )
    """Method for Markdown and raw pages; structured pages are split at their blocks."""
    chunk_size: Annotated[
        int, Field(ge=limits.CONFIG_CHUNK_TOKENS_MIN, le=limits.CONFIG_CHUNK_TOKENS_MAX)
    ] = _DEFAULTS.chunk_size
    """Size in tokens of the embedder, whose own limit may be lower."""
    chunk_overlap: Annotated[int, Field(ge=0)] = _DEFAULTS.chunk_overlap
    """Overlap in tokens, at most half of `chunk_size`."""
    min_chunk_size: Annotated[int, Field(ge=1)] = _DEFAULTS.min_chunk_size
    """Minimum size in tokens, at most `chunk_size`."""
    page_timeout_ms: Annotated[
        int, Field(ge=limits.CONFIG_TIMEOUT_MIN_MS, le=round(bounds.FETCH_TOTAL_SECONDS * 1000))
    ] = _DEFAULTS.page_timeout_ms
    """Time limit for one page including redirects, in milliseconds."""
    max_page_size_mb: Annotated[int, Field(ge=1, le=limits.CONFIG_PAGE_MB_MAX)] = (
        _DEFAULTS.max_page_size_mb
    )
    """Maximum size in MiB (1,048,576 bytes), before and after decoding."""
    max_redirects: Annotated[int, Field(ge=0, le=limits.CRAWL_MAX_REDIRECTS)] = (
        _DEFAULTS.max_redirects
    )
    """Maximum number of redirects that one fetch follows."""
    proxy_config_id: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    """Proxies for the pages; null fetches directly."""
    render: RenderMode = _DEFAULTS.render
    """Whether pages are opened in a browser with their scripts. `auto` opens a page that has
    scripts and next to no text without them.

    A browser sends no `headers` and uses no proxies, and deep crawls don't render.
    `page_timeout_ms`, `max_page_size_mb` and `max_redirects` don't hold in a browser, which has
    bounds of its own.
    """
    wait_for: Selector | None = None
    """CSS selector of an element that a rendered page must have; without it in time, the crawl
    fails."""
    wait_seconds: WaitInPage = 0.0
    """Seconds to wait after a rendered page is there."""
    is_default: bool = False
    """Whether crawls without a config use this one; a tenant has at most one default."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.chunk_overlap > self.chunk_size // 2:
            raise ValueError("chunk_overlap is more than half of chunk_size")
        if self.min_chunk_size > self.chunk_size:
            raise ValueError("min_chunk_size is more than chunk_size")
        if self.render and self.max_depth:
            raise ValueError("deep crawls don't render: render requires max_depth 0")
        if self.render and self.proxy_config_id is not None:
            raise ValueError("a browser uses no proxies: render excludes proxy_config_id")
        if not self.render and (self.wait_for is not None or self.wait_seconds):
            raise ValueError("wait_for and wait_seconds require render")
        return self

    @property
    def draft(self) -> ConfigDraft:
        """Return the config as the service's input."""
        options = self.model_dump(exclude={"name", "headers", "is_default"})
        return ConfigDraft(
            name=self.name,
            options=ConfigOptions(**options),
            headers=self.headers if "headers" in self.model_fields_set else None,
            is_default=self.is_default,
        )


class ConfigView(BaseModel):
    """A config without the secrets in its headers."""

    config_id: str
    """Id of the config."""
    name: str
    """Name, unique within the tenant."""
    max_depth: int
    rate_limit_rps: float
    """Maximum number of requests per second to one host."""
    respect_robots_txt: bool
    """Whether the site's rules for crawlers are obeyed."""
    headers: dict[str, str]
    """Headers sent to the page's origin, without secret values."""
    extraction_strategy: ExtractionStrategy
    """Selection of the content."""
    keep_link_targets: bool
    """Whether the Markdown contains URLs of links and images."""
    chunking_strategy: ChunkingStrategy
    """Method that splits the content into chunks."""
    chunk_size: int
    """Maximum size of a chunk in tokens."""
    chunk_overlap: int
    """Overlap of neighbouring chunks in tokens."""
    min_chunk_size: int
    """Minimum size of a chunk in tokens."""
    page_timeout_ms: int
    """Time limit for one page including redirects, in milliseconds."""
    max_page_size_mb: int
    """Maximum size of a page in MiB (1,048,576 bytes)."""
    max_redirects: int
    """Maximum number of redirects that one fetch follows."""
    proxy_config_id: str | None
    """Proxies for the pages; null if they are fetched directly."""
    render: RenderMode
    """Whether pages are opened in a browser; `auto` opens a page with scripts and without text."""
    wait_for: str | None
    """CSS selector of an element that a rendered page must have; null for none."""
    wait_seconds: float
    """Seconds to wait after a rendered page is there."""
    is_default: bool
    """Whether crawls without a config use this one."""
    created_at: str
    updated_at: str


class ConfigList(ListOf[ConfigView]):
    """A page of configs, newest first."""


def config_view(config: Config) -> ConfigView:
    """Return the view of a config."""
    return ConfigView(
        config_id=config.id,
        name=config.name,
        **vars(config.options),
        headers=dict(config.shown_headers),
        is_default=config.is_default,
        created_at=to_iso(config.created_at),
        updated_at=to_iso(config.updated_at),
    )
