"""Value classes of crawl configs."""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from spinneret.content.chunking.models import Chunking, ChunkingStrategy
from spinneret.content.extraction.models import ExtractionStrategy
from spinneret.crawl.configs import limits
from spinneret.crawl.configs.rendering import Rendering, RenderMode, rendering_of
from spinneret.kernel import bounds


@dataclass(frozen=True, kw_only=True)
class ConfigOptions:
    """Options of a config except its headers, with their defaults."""

    max_depth: int = 0
    rate_limit_rps: float = 1.0
    respect_robots_txt: bool = True
    extraction_strategy: ExtractionStrategy = ExtractionStrategy.MARKDOWN
    keep_link_targets: bool = True
    chunking_strategy: ChunkingStrategy = ChunkingStrategy.SLIDING_WINDOW
    chunk_size: int = bounds.CHUNK_TOKENS
    chunk_overlap: int = bounds.CHUNK_OVERLAP_TOKENS
    min_chunk_size: int = bounds.CHUNK_MIN_TOKENS
    page_timeout_ms: int = round(bounds.FETCH_TOTAL_SECONDS * 1000)
    max_page_size_mb: int = limits.CONFIG_PAGE_MB_MAX
    max_redirects: int = limits.CRAWL_MAX_REDIRECTS
    proxy_config_id: str | None = None
    render: RenderMode = False
    wait_for: str | None = None
    wait_seconds: float = 0.0

    @property
    def rendering(self) -> Rendering | None:
        """Rendering of the pages; None if they are only fetched."""
        return rendering_of(self.render, self.wait_for, self.wait_seconds)

    @property
    def chunking(self) -> Chunking:
        """Chunking of documents; structured pages are chunked at their blocks."""
        strategy = self.chunking_strategy
        if self.extraction_strategy is ExtractionStrategy.STRUCTURED:
            strategy = ChunkingStrategy.BY_BLOCK
        return Chunking(
            strategy=strategy,
            size=self.chunk_size,
            overlap=self.chunk_overlap,
            minimum=self.min_chunk_size,
        )


@dataclass(frozen=True, kw_only=True)
class Config:
    """A named config; names are unique per tenant."""

    tenant: str
    id: str
    name: str
    options: ConfigOptions
    shown_headers: Mapping[str, str] = field(default_factory=dict)
    """Request headers with secrets redacted, for display."""
    sealed_headers: bytes | None = field(default=None, repr=False)
    """Encrypted headers, since a value may be a credential."""
    is_default: bool = False
    """Whether the config applies to crawls that name none."""
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Incremented by every change; the next change requires it."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Copy of a config at a crawl's submission, stored in the job's payload."""

    config_id: str
    options: ConfigOptions
    sealed_headers: bytes | None = field(default=None, repr=False)


def snapshot_of(config: Config) -> dict[str, Any]:
    """Encode a snapshot of the config as JSON."""
    sealed = config.sealed_headers
    return {
        "config_id": config.id,
        "options": asdict(config.options),
        "headers": None if sealed is None else base64.b64encode(sealed).decode(),
    }


def read_snapshot(stored: Mapping[str, Any]) -> Snapshot:
    """Parse a snapshot from JSON."""
    sealed = stored["headers"]
    return Snapshot(
        config_id=stored["config_id"],
        options=read_options(stored["options"]),
        sealed_headers=None if sealed is None else base64.b64decode(sealed),
    )


def read_options(stored: Mapping[str, Any]) -> ConfigOptions:
    """Parse options from JSON."""
    return ConfigOptions(
        **{
            **stored,
            "extraction_strategy": ExtractionStrategy(stored["extraction_strategy"]),
            "chunking_strategy": ChunkingStrategy(stored["chunking_strategy"]),
        }
    )
