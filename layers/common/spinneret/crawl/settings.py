"""What a stage sets for crawls, by the names of the source design."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spinneret.crawl.kinds import CRAWL, KINDS
from spinneret.jobs.kinds import Kinds
from spinneret.kernel import bounds
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class SubmissionSettings(Settings):
    """What a crawl gets when it is submitted."""

    job__max_retries: int = bounds.JOB_MAX_ATTEMPTS
    """Attempts of a series, the first one included."""
    job__result_ttl_s: int = bounds.RESULT_FRESH_SECONDS

    @property
    def kinds(self) -> Kinds:
        """The kind of crawls as this stage has it."""
        policy = replace(
            KINDS[CRAWL],
            max_attempts=self.job__max_retries,
            result_seconds=self.job__result_ttl_s,
        )
        return {CRAWL: policy}


@dataclass(frozen=True, kw_only=True)
class PageWorkSettings(Settings):
    """How a page is worked on."""

    cache__crawl_ttl_s: int = bounds.FETCH_KEPT_SECONDS
    """How long a fetched page is kept; 0 keeps none."""


@dataclass(frozen=True, kw_only=True)
class WorkSettings(SubmissionSettings):
    """What a crawl gets when it is worked on, and those that the worker of a batch submits."""

    job__timeout_s: float = bounds.JOB_WORK_SECONDS
    """Under all claims of a run together."""

    @property
    def kinds(self) -> Kinds:
        """The kind of crawls as this stage has it."""
        return {CRAWL: replace(super().kinds[CRAWL], work_seconds=self.job__timeout_s)}
