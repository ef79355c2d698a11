"""Requests external links, images, and targets that no link leads to, by HEAD."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import chain, islice
from typing import Final

from spinneret.audits import limits
from spinneret.audits.checks.reading import without_slash
from spinneret.audits.facts.models import PageFacts, PageKind, ReadFailure
from spinneret.audits.facts.site import LinkOutcome, SiteFacts
from spinneret.audits.models import AuditPhase, Progress
from spinneret.audits.ports import AuditStore
from spinneret.audits.running.slices import AuditContext, get
from spinneret.audits.running.storage import Storage
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainBlocked,
    FetchFailed,
    FetchTimeout,
    LeaseLost,
    PermanentError,
    RobotsDisallowed,
    TooManyRedirects,
    TransientError,
    UrlBlocked,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.scope import CrawlScope, ScopeKind
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import parse_url, web_url
from spinneret.web.models import Purpose, WaitUntil

_NO_HEAD: Final = frozenset({403, 404, 405, 500, 501, 503})
"""Status codes after which GET is tried: many servers and proxies only support that."""
_EXCERPT_BYTES: Final = 1024


@service
class LinkChecker:
    """Requests each URL once, however many pages refer to it; hosts that have to wait come last."""

    storage: Storage

    def run(self, work: AuditContext, progress: Progress) -> Progress:
        """Check all links, images and targets; return the progress for the next phase.

        Raises Defer, ReleaseJob and LeaseLost; outcomes so far are stored.
        """
        known, number = self.storage.store.outcomes(work.ref)
        state = _Checked(work, self.storage.store, number)
        targets = list(self._targets(work, progress))
        left = [url for url in targets if url not in known]
        work.note("links found", known=len(targets), left=len(left))
        try:
            waiting = self._pass(work, state, left, len(targets))
            if waiting:
                first = min(waiting, key=lambda wait: wait.until)
                raise work.deferral(first.until, first.waiting_for)
        finally:
            state.flush()
        after = replace(progress, phase=AuditPhase.JUDGING)
        self.storage.store.keep_progress(after, work.context.lease)
        return after

    def _targets(self, work: AuditContext, progress: Progress) -> Iterator[str]:
        """Yield external links, images and other targets, each up to its bound.

        All are in the order of the pages. Images that pages show come before other images, and the
        sitemaps' URLs come last.
        """
        site = self.storage.site(progress)
        assert site is not None  # settling stores it
        scope = CrawlScope.of(ScopeKind.HOST, [parse_url(site.start_url)])
        links: dict[str, None] = {}
        images: dict[str, None] = {}
        files: dict[str, None] = {}
        named: dict[str, None] = {}
        pages: set[str] = set()
        for facts in self.storage.pages(work.ref):
            pages.add(without_slash(facts.url))
            named.update(dict.fromkeys(_targets_of(facts)))
            if facts.html is None:
                continue
            for link in facts.html.links:
                if link.url is not None and _is_outside(link.url, scope):
                    links.setdefault(link.url)
            images.update(dict.fromkeys(each.url for each in facts.html.images if each.url))
            files.update(dict.fromkeys(each.url for each in facts.html.image_files))
        yield from islice(links, work.sample.max_external_links)
        shown = (url for url in images | files if url not in links)
        yield from islice(shown, work.sample.max_images)
        targets: dict[str, None] = {}
        most = min(limits.TARGETS, work.sample.max_pages - 1)
        for url in chain(named, _listed(site, scope)):  # sitemaps may list half a million
            if len(targets) >= most:
                break
            is_known = url in links or url in images or url in files
            if not is_known and without_slash(url) not in pages:
                targets.setdefault(url)
        yield from targets

    def _pass(
        self, work: AuditContext, state: _Checked, left: list[str], total: int
    ) -> list[WaitUntil]:
        """Request all URLs that don't have to wait; return the waits by host."""
        busy: dict[str, WaitUntil] = {}
        dead: set[str] = set()
        done = total - len(left)
        for url in left:
            if work.worked_seconds >= limits.LINK_WORK_SECONDS:
                return []
            host = parse_url(url).host
            if host in busy:
                continue
            if done % limits.LINKS_PER_WRITE == 0 or work.is_renewal_due:
                work.checkpoint(AuditPhase.CHECKING, 70 + round(20 * done / max(1, total)))
            answer = self._ask(work, url, dead)
            if isinstance(answer, LinkOutcome):
                done += 1
                state.add(url, answer)
            elif answer.until - work.clock() <= timedelta(seconds=limits.LINK_WAIT_SECONDS):
                busy[host] = answer
            # otherwise the link stays unchecked, and the report says so
        return list(busy.values())

    def _ask(self, work: AuditContext, url: str, dead: set[str]) -> LinkOutcome | WaitUntil:
        name = fingerprint(url)[:32]
        parsed = parse_url(url)
        if parsed.origin in dead:
            return LinkOutcome(failure=ReadFailure.NETWORK)
        try:
            head = get(parsed, method="HEAD", total_seconds=limits.LINK_SECONDS)
            answer = work.ask(head, name, Purpose.LINK)
            if isinstance(answer, FetchedPage) and answer.status_code in _NO_HEAD:
                request = get(
                    parsed, total_seconds=limits.LINK_SECONDS, excerpt_bytes=_EXCERPT_BYTES
                )
                answer = work.ask(request, f"{name}/get", Purpose.LINK)
        except (LeaseLost, DependencyUnavailable):
            raise
        except (PermanentError, TransientError) as error:
            if isinstance(error, FetchFailed) and error.is_of_host:
                dead.add(parsed.origin)
            return LinkOutcome(failure=_failure(error))
        return answer if isinstance(answer, WaitUntil) else _outcome(answer)


class _Checked:
    """Outcomes that wait to be written in batches."""

    def __init__(self, work: AuditContext, store: AuditStore, number: int) -> None:
        self._work = work
        self._store = store
        self._number = number
        self._new: dict[str, LinkOutcome] = {}

    def add(self, url: str, outcome: LinkOutcome) -> None:
        self._new[url] = outcome
        if len(self._new) >= limits.LINKS_PER_WRITE:
            self.flush()

    def flush(self) -> None:
        if self._new:
            lease = self._work.context.lease
            self._store.keep_outcomes(self._work.ref, self._number, self._new, lease)
            self._number += 1
            self._new = {}


def _targets_of(facts: PageFacts) -> Iterator[str]:
    """Yield the URLs that a page refers to without a link."""
    if facts.kind is PageKind.REDIRECT:
        yield facts.final_url
    if facts.header_canonical is not None:
        yield facts.header_canonical
    if facts.html is not None:
        yield from (each.url for each in facts.html.canonicals if each.url)
        yield from (each.url for each in facts.html.alternates if each.url)


def _listed(site: SiteFacts, scope: CrawlScope) -> Iterator[str]:
    """Yield the site's own URLs in its sitemaps, normalized like links."""
    for entry in site.listed:
        url = web_url(entry.url)
        if url is not None and scope.refusal(url) is None:
            yield url.text


def _is_outside(text: str, scope: CrawlScope) -> bool:
    url = web_url(text)
    return url is not None and scope.refusal(url) is not None


def _outcome(page: FetchedPage) -> LinkOutcome:
    length = page.headers.get("content-length", "")
    return LinkOutcome(
        status=page.status_code,
        redirected_to=page.url.text if page.redirects else "",
        size=int(length) if length.isascii() and length.isdigit() else None,
        media_type=page.media_type,
    )


def _failure(error: PermanentError | TransientError) -> ReadFailure:
    match error:
        case FetchTimeout():
            return ReadFailure.TIMEOUT
        case TooManyRedirects():
            return ReadFailure.TOO_MANY_REDIRECTS
        case RobotsDisallowed() | DomainBlocked() | UrlBlocked():
            return ReadFailure.ROBOTS
        case _:
            return ReadFailure.NETWORK
