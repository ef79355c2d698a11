"""Methods added to generated resources: wait for a job, follow it, read its texts."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, Literal

import httpx
from typing_extensions import Unpack

from spinneret_client import events
from spinneret_client.errors import ConnectionFailed, WaitTimeout
from spinneret_client.generated import async_resources, resources
from spinneret_client.generated import models as m
from spinneret_client.generated import requests as r
from spinneret_client.paging import AsyncPages, Pages
from spinneret_client.resource import AsyncResource, Resource, part
from spinneret_client.transport import AsyncTransport, Transport

ReportFormat = Literal["json", "csv", "html", "md", "junit", "sarif"]
JOBS, AUDITS = "/api/v1/jobs", "/audits"
POLL_FIRST, POLL_LAST = 0.25, 4.0
"""Seconds between two polls of a job, at first and at most; the pause doubles."""


class Followed(Resource):
    """Jobs that can be waited for and streamed."""

    _path = JOBS

    def stream(self, job_id: str, *, last_event_id: str | None = None) -> Iterator[m.EventView]:
        """Yield the job's events as they happen, each once, until it has ended."""
        return events.stream(self._transport, f"{self._path}/{part(job_id)}", last_event_id)

    def _wait(self, get: Any, job_id: str, timeout: float | None) -> Any:
        clock = self._transport.clock
        pauses = _pauses(clock, clock(), job_id, timeout)
        while (job := get(job_id)).status not in events.FINAL:
            self._transport.sleep(next(pauses))
        return job


class AsyncFollowed(AsyncResource):
    """Jobs that can be waited for and streamed."""

    _path = JOBS

    def stream(
        self, job_id: str, *, last_event_id: str | None = None
    ) -> AsyncIterator[m.EventView]:
        """Yield the job's events as they happen, each once, until it has ended."""
        return events.stream_async(self._transport, f"{self._path}/{part(job_id)}", last_event_id)

    async def _wait(self, get: Any, job_id: str, timeout: float | None) -> Any:
        clock = self._transport.clock
        pauses = _pauses(clock, clock(), job_id, timeout)
        while (job := await get(job_id)).status not in events.FINAL:
            await self._transport.sleep(next(pauses))
        return job


def _pauses(
    clock: Callable[[], float], begun: float, job_id: str, timeout: float | None
) -> Generator[float, None, None]:
    """Yield the pauses between polls of a job. Raises WaitTimeout after `timeout` seconds."""
    deadline = math.inf if timeout is None else begun + timeout
    pause = POLL_FIRST
    while (left := deadline - clock()) > 0:
        yield min(pause, left)
        pause = min(POLL_LAST, 2 * pause)
    raise WaitTimeout(job_id, timeout or 0)


class Jobs(resources.Jobs, Followed):
    """Methods of `jobs`."""

    def wait(self, job_id: str, *, timeout: float | None = None) -> m.JobWithCounts:
        """Return the job when it has ended. Raises WaitTimeout; the job then continues."""
        job: m.JobWithCounts = self._wait(self.get, job_id, timeout)
        return job


class AsyncJobs(async_resources.Jobs, AsyncFollowed):
    """Methods of `jobs`."""

    async def wait(self, job_id: str, *, timeout: float | None = None) -> m.JobWithCounts:
        """Return the job when it has ended. Raises WaitTimeout; the job then continues."""
        job: m.JobWithCounts = await self._wait(self.get, job_id, timeout)
        return job


class Crawls(resources.Crawls, Followed):
    """Methods of `crawls`."""

    def wait(
        self, job_id: str, *, timeout: float | None = None
    ) -> m.CrawlView | m.BatchView | m.DeepCrawlView:
        """Return the crawl when it has ended. Raises WaitTimeout; the crawl then continues."""
        job: m.CrawlView | m.BatchView | m.DeepCrawlView = self._wait(self.get, job_id, timeout)
        return job


class AsyncCrawls(async_resources.Crawls, AsyncFollowed):
    """Methods of `crawls`."""

    async def wait(
        self, job_id: str, *, timeout: float | None = None
    ) -> m.CrawlView | m.BatchView | m.DeepCrawlView:
        """Return the crawl when it has ended. Raises WaitTimeout; the crawl then continues."""
        job: m.CrawlView | m.BatchView | m.DeepCrawlView
        job = await self._wait(self.get, job_id, timeout)
        return job


class Audits(resources.Audits, Followed):
    """Methods of `audits`."""

    _path = AUDITS

    def wait(self, audit_id: str, *, timeout: float | None = None) -> m.AuditView:
        """Return the audit when it has ended. Raises WaitTimeout; the audit then continues."""
        audit: m.AuditView = self._wait(self.get, audit_id, timeout)
        return audit

    def download(self, audit_id: str, format: ReportFormat = "json") -> bytes:  # noqa: A002 - the API's word
        """Return the report itself. Raises Conflict before the audit has ended."""
        return fetched(self._transport, self.report(audit_id, format=format).url)


class AsyncAudits(async_resources.Audits, AsyncFollowed):
    """Methods of `audits`."""

    _path = AUDITS

    async def wait(self, audit_id: str, *, timeout: float | None = None) -> m.AuditView:
        """Return the audit when it has ended. Raises WaitTimeout; the audit then continues."""
        audit: m.AuditView = await self._wait(self.get, audit_id, timeout)
        return audit

    async def download(self, audit_id: str, format: ReportFormat = "json") -> bytes:  # noqa: A002 - the API's word
        """Return the report itself. Raises Conflict before the audit has ended."""
        address = await self.report(audit_id, format=format)
        return await fetched_async(self._transport, address.url)


class Discovery(resources.Discovery, Followed):
    """Methods of `discovery`."""

    def wait(self, job_id: str, *, timeout: float | None = None) -> m.DiscoveryView:
        """Return the discovery with its first URLs when it has ended. Raises WaitTimeout."""
        job: m.DiscoveryView = self._wait(self.get, job_id, timeout)
        return job

    def urls(self, job_id: str) -> Iterator[m.FoundView]:
        """Yield all URLs that a discovery has found so far."""
        pages: Pages[m.FoundView] = Pages(lambda cursor: self.get(job_id, cursor=cursor), None)
        for page in pages.pages():
            yield from page.result


class AsyncDiscovery(async_resources.Discovery, AsyncFollowed):
    """Methods of `discovery`."""

    async def wait(self, job_id: str, *, timeout: float | None = None) -> m.DiscoveryView:
        """Return the discovery with its first URLs when it has ended. Raises WaitTimeout."""
        job: m.DiscoveryView = await self._wait(self.get, job_id, timeout)
        return job

    async def urls(self, job_id: str) -> AsyncIterator[m.FoundView]:
        """Yield all URLs that a discovery has found so far."""
        pages: AsyncPages[m.FoundView]
        pages = AsyncPages(lambda cursor: self.get(job_id, cursor=cursor), None)
        async for page in pages.pages():
            for each in page.result:
                yield each


class Documents(resources.Documents):
    """Methods of `documents`."""

    def text(self, document_id: str) -> str:
        """Return the document's whole markdown."""
        return fetched(self._transport, self.markdown(document_id).url).decode()


class AsyncDocuments(async_resources.Documents):
    """Methods of `documents`."""

    async def text(self, document_id: str) -> str:
        """Return the document's whole markdown."""
        address = await self.markdown(document_id)
        return (await fetched_async(self._transport, address.url)).decode()


class Inbox(resources.Inbox):
    """Methods of `inbox`."""

    def upload(self, name: str, content: bytes) -> m.InboxView:
        """Upload a file of URLs (txt, csv or jsonl) and return its job."""
        begun = self.create(name=name)
        form = _form(begun, content, self._transport)
        try:
            response = self._transport.http.post(**form)
        except httpx.RequestError as error:
            raise ConnectionFailed(f"the file couldn't be uploaded: {error}") from error
        _uploaded(response)
        return begun


class AsyncInbox(async_resources.Inbox):
    """Methods of `inbox`."""

    async def upload(self, name: str, content: bytes) -> m.InboxView:
        """Upload a file of URLs (txt, csv or jsonl) and return its job."""
        begun = await self.create(name=name)
        form = _form(begun, content, self._transport)
        try:
            response = await self._transport.http.post(**form)
        except httpx.RequestError as error:
            raise ConnectionFailed(f"the file couldn't be uploaded: {error}") from error
        _uploaded(response)
        return begun


class Media(resources.Media, Followed):
    """Methods of `media`."""

    def wait(self, job_id: str, *, timeout: float | None = None) -> m.MediaView:
        """Return the screenshot, PDF or run when it has ended. Raises WaitTimeout."""
        job: m.MediaView = self._wait(self.get, job_id, timeout)
        return job

    def download(self, job_id: str) -> bytes:
        """Return the image or document itself. Raises ConnectionFailed if there is none."""
        return fetched(self._transport, _address(self.get(job_id)))


class AsyncMedia(async_resources.Media, AsyncFollowed):
    """Methods of `media`."""

    async def wait(self, job_id: str, *, timeout: float | None = None) -> m.MediaView:
        """Return the screenshot, PDF or run when it has ended. Raises WaitTimeout."""
        job: m.MediaView = await self._wait(self.get, job_id, timeout)
        return job

    async def download(self, job_id: str) -> bytes:
        """Return the image or document itself. Raises ConnectionFailed if there is none."""
        return await fetched_async(self._transport, _address(await self.get(job_id)))


class Search(resources.Search):
    """Methods of `search`; the resource itself is the hybrid search."""

    def __call__(self, **body: Unpack[r.SearchRequest]) -> m.SearchResponse:
        """Search by meaning and by words, and return the first page of hits."""
        return self.hybrid(**body)


class AsyncSearch(async_resources.Search):
    """Methods of `search`; the resource itself is the hybrid search."""

    async def __call__(self, **body: Unpack[r.SearchRequest]) -> m.SearchResponse:
        """Search by meaning and by words, and return the first page of hits."""
        return await self.hybrid(**body)


def fetched(transport: Transport, url: str) -> bytes:
    """Return the object at a presigned URL; send no credential. Raises ConnectionFailed."""
    try:
        response = transport.http.get(url, timeout=transport.settings.patience)
    except httpx.RequestError as error:
        raise ConnectionFailed(f"the object couldn't be read: {error}") from error
    return _object(response)


async def fetched_async(transport: AsyncTransport, url: str) -> bytes:
    """Return the object at a presigned URL; send no credential. Raises ConnectionFailed."""
    try:
        response = await transport.http.get(url, timeout=transport.settings.patience)
    except httpx.RequestError as error:
        raise ConnectionFailed(f"the object couldn't be read: {error}") from error
    return _object(response)


def _address(media: m.MediaView) -> str:
    if media.download_url is None:
        raise ConnectionFailed(f"{media.job_id} is {media.status} and has no object")
    return media.download_url


def _object(response: httpx.Response) -> bytes:
    if response.status_code != 200:
        raise ConnectionFailed(f"the object's store returned {response.status_code}")
    return response.content


def _form(begun: m.InboxView, content: bytes, transport: Transport | AsyncTransport) -> Any:
    """Return the arguments of httpx for an upload, without any credential."""
    fields = {"url": begun.url, "data": begun.fields, "files": {"file": content}}
    return {**fields, "timeout": transport.settings.patience}


def _uploaded(response: httpx.Response) -> None:
    if response.status_code >= 300:
        raise ConnectionFailed(f"the upload's store returned {response.status_code}")
