"""Wire the step that takes batches; it ships neither fetcher nor extractor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.crawl.deep.driving import DeepCrawls
from spinneret.crawl.deep.wiring import DeepCrawlSettings, deep_crawls
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.wiring import ending_store


@dataclass(frozen=True, kw_only=True)
class TakeStepSettings(DeepCrawlSettings, RelaySettings):
    """Environment variables of the step."""


def take_step(env: Mapping[str, str]) -> DeepCrawls:
    """Build the driving step of deep crawls."""
    settings = TakeStepSettings.from_env(env)
    return deep_crawls(settings, ending_store(settings, relay(settings).relay))
