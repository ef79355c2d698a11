"""Responses about a tenant's numbers."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from pydantic import BaseModel

from spinneret.content.caches.models import DayOfUse
from spinneret.kernel import histogram
from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf
from spinneret.operations.statistics import limits
from spinneret.operations.statistics.models import HostState, Overview
from spinneret.operations.statistics.rules import COUNTERS
from spinneret.web.politeness.models import Circuit


class StatsDay(BaseModel):
    """Numbers of one day."""

    day: date
    """UTC."""
    crawls_total: int
    """Single crawls, and the crawls of batches, files and sources; each counts once."""
    crawls_succeeded: int
    """Crawls that completed."""
    crawls_failed: int
    """Includes expired ones; cancelled ones are in the total only."""
    pages_crawled: int
    """Pages of these crawls and of deep crawls."""
    pages_failed: int
    """Pages of these crawls and of deep crawls that failed."""
    searches_total: int
    """Approximate: a process stores its numbers from time to time."""
    cache_hits: int
    """Uses of cached results and vectors; approximate too."""
    cache_misses: int
    """Uses that found nothing cached; approximate."""
    webhooks_delivered: int
    """Deliveries that an endpoint accepted."""
    webhooks_failed: int
    """Deliveries that failed in all attempts."""
    audits_succeeded: int
    """Audits that ended with a report, also of a part of the site."""
    audits_failed: int
    """Audits that failed or expired."""
    checks_total: int
    """Checks of targets in completed hours."""
    listings_published: int
    """Publications that made a listing."""
    listings_failed: int
    """Publications that failed or expired."""


class StatsGauges(BaseModel):
    """The state at the time of the request."""

    jobs_running: int
    """Jobs that a worker or an execution has, or that wait for their parts."""
    jobs_queued: int
    """Jobs that wait, also for a host or a retry."""
    jobs_paused: int
    """Jobs that are paused."""
    active_deep_crawls: int
    """Deep crawls among the running jobs."""
    targets_total: int
    """Monitored targets, paused ones included."""
    documents_total: int | None
    """Documents in the search index, approximate over 3,000; null while it is unavailable."""
    chunks_total: int | None
    """Chunks in the search index; null while it is unavailable."""


class StatsDuration(BaseModel):
    """Durations of all days; a percentile has an error of at most 5 percent."""

    count: int
    """Number of durations."""
    p50_ms: float | None
    """Median in milliseconds; null without any."""
    p95_ms: float | None
    """95th percentile in milliseconds; null without any."""
    p99_ms: float | None
    """99th percentile in milliseconds; null without any."""


class StatsDurations(BaseModel):
    """Durations by what they are of."""

    crawl_duration_ms: StatsDuration
    """Successful crawls, from the first claim to the end; it includes waits for a host."""
    search_duration_ms: StatsDuration
    """Searches."""
    embedding_duration_ms: StatsDuration
    """Calls that embedded a query."""


class Stats(BaseModel):
    """A tenant's numbers of the last 30 days."""

    until: str
    """Time of the request (RFC 3339, UTC), in the last day."""
    complete: bool
    """Whether all jobs that have ended are counted; if not, further requests count more."""
    days: list[StatsDay]
    """30 days, the latest last."""
    gauges: StatsGauges
    """The state at the time of the request."""
    durations: StatsDurations
    """Durations of the 30 days together."""


class DomainStats(BaseModel):
    """A tenant's crawls of one host; the pages of a deep crawl count for its first host."""

    domain: str
    """Host name."""
    crawls_total: int
    """Pages that were crawled or failed."""
    crawls_failed: int
    """Pages that failed."""
    bytes_total: int
    """Size of the fetched bodies; deep crawls and unchanged pages add nothing."""
    duration_ms_mean: float | None
    """Mean duration of the successful crawls, without deep crawls; null without any."""
    last_crawl_at: str
    """Time of the latest end (RFC 3339, UTC); a host is removed 90 days later."""
    circuit: Circuit
    """State of the host's circuit breaker, which all tenants share."""


class DomainStatsList(ListOf[DomainStats]):
    """One page of hosts, sorted by name."""


def stats_view(overview: Overview) -> Stats:
    """Return the view of all numbers."""
    days = [overview.since + timedelta(days=n) for n in range(limits.SHOWN_DAYS)]
    documents, chunks = overview.index or (None, None)
    unfinished = overview.unfinished
    crawls = (each.crawl_ms for each in overview.jobs.values())
    use = overview.use.values()
    return Stats(
        until=to_iso(overview.until),
        complete=unfinished.complete,
        days=[_day(overview, day) for day in days],
        gauges=StatsGauges(
            jobs_running=unfinished.running,
            jobs_queued=unfinished.queued,
            jobs_paused=unfinished.paused,
            active_deep_crawls=unfinished.deep_crawls,
            targets_total=overview.targets,
            documents_total=documents,
            chunks_total=chunks,
        ),
        durations=StatsDurations(
            crawl_duration_ms=_duration(crawls),
            search_duration_ms=_duration(each.search_ms for each in use),
            embedding_duration_ms=_duration(each.embedding_ms for each in use),
        ),
    )


def domain_stats_view(state: HostState) -> DomainStats:
    """Return the view of a host."""
    use = state.use
    return DomainStats(
        domain=use.host,
        crawls_total=use.crawls,
        crawls_failed=use.failures,
        bytes_total=use.bytes,
        duration_ms_mean=round(use.duration_ms / use.timed, 1) if use.timed else None,
        last_crawl_at=to_iso(use.last_crawl_at),
        circuit=state.breaker.circuit,
    )


def _day(overview: Overview, day: date) -> StatsDay:
    jobs, use = overview.jobs.get(day), overview.use.get(day, DayOfUse())
    ends: Mapping[str, int] = jobs.ends if jobs is not None else {}
    return StatsDay(
        day=day,
        searches_total=use.searches,
        cache_hits=sum(each.hits for each in use.caches.values()),
        cache_misses=sum(each.misses for each in use.caches.values()),
        checks_total=overview.checks.get(day, 0),
        **{name: ends.get(name, 0) for name in COUNTERS},
    )


def _duration(days: Iterable[histogram.Buckets]) -> StatsDuration:
    buckets: histogram.Buckets = {}
    for each in days:
        buckets = histogram.added(buckets, each)
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    found = {name: histogram.percentile(buckets, share) for name, share in shares.items()}
    return StatsDuration(
        count=sum(buckets.values()),
        **{name: None if each is None else round(each, 1) for name, each in found.items()},
    )
