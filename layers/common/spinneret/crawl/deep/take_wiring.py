"""Chooses the adapters of the step that takes batches; it carries no fetcher and no extractor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.crawl.deep.driving import DeepCrawls
from spinneret.crawl.deep.wiring import DeepCrawlSettings, deep_crawls
from spinneret.events.webhooks.wiring import NotifierSettings, notifier


@dataclass(frozen=True, kw_only=True)
class TakeStepSettings(DeepCrawlSettings, NotifierSettings):
    """The step's environment."""


def take_step(env: Mapping[str, str]) -> DeepCrawls:
    """The driving side of deep crawls."""
    settings = TakeStepSettings.from_env(env)
    return deep_crawls(settings, notifier(settings))
