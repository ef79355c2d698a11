"""Crawl settings of a stage, named as in the source design."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spinneret.crawl import limits
from spinneret.crawl.kinds import CRAWL, KINDS
from spinneret.jobs.kinds import Kinds
from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class SubmissionSettings(Settings):
    """Settings for submitting crawls."""

    job__max_retries: int = bounds.JOB_MAX_ATTEMPTS
    """Maximum attempts of a series, including the first."""
    job__result_ttl_s: int = bounds.RESULT_FRESH_SECONDS

    @property
    def kinds(self) -> Kinds:
        """Job kind of crawls with this stage's settings."""
        policy = replace(
            KINDS[CRAWL],
            max_attempts=self.job__max_retries,
            result_seconds=self.job__result_ttl_s,
        )
        return {CRAWL: policy}


@dataclass(frozen=True, kw_only=True)
class PageWorkSettings(Settings):
    """Settings for processing pages."""

    cache__crawl_ttl_s: int = limits.FETCH_KEPT_SECONDS
    """Seconds for which a fetched page is cached; 0 disables the cache."""


@dataclass(frozen=True, kw_only=True)
class WorkSettings(SubmissionSettings):
    """Settings for processing crawls, and for the crawls that a batch's worker submits."""

    job__timeout_s: float = bounds.JOB_WORK_SECONDS
    """Maximum working seconds of a run, over all of its claims."""

    @property
    def kinds(self) -> Kinds:
        """Job kind of crawls with this stage's settings."""
        return {CRAWL: replace(super().kinds[CRAWL], work_seconds=self.job__timeout_s)}
