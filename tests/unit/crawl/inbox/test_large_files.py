"""A file with the maximum number of lines is read in the memory of a few lines."""

import json
import os
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.handler import FileHandler
from spinneret.crawl.inbox.models import InboxFile
from spinneret.crawl.inbox.service import InboxIngest
from spinneret.crawl.kinds import CRAWL_FILE
from spinneret.jobs.children import Children
from spinneret.jobs.models import Draft, JobRef
from spinneret.jobs.placement import Placed
from spinneret.jobs.worker import Context, Worker
from tests.factories import TENANT
from tests.fakes.crawling import CrawlWorld
from tests.fakes.inbox import FakeInboxStore

LINES = int(os.environ.get("SPINNERET_INBOX_LINES", "8000"))
"""Number of lines in the file; `make prove` uses the maximum."""
_KEY = f"T/{TENANT}/inbox/inbox_1/list.jsonl"


class DiskInbox(FakeInboxStore):
    """An inbox that keeps one file, its parts and its report on disk, so that none takes memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.file, self.written = folder / "file", folder / "report"

    def size(self, file: InboxFile) -> int:
        return self.file.stat().st_size

    def read(self, file: InboxFile, first: int, end: int) -> bytes:
        with self.file.open("rb") as stream:
            stream.seek(first)
            return stream.read(end - first)

    def keep(self, key: str, body: bytes) -> None:
        (self._folder / key.replace("/", "+")).write_bytes(body)

    def kept(self, prefix: str) -> Iterator[bytes]:
        for path in sorted(self._folder.glob(f"{prefix.replace('/', '+')}*")):
            yield path.read_bytes()

    def report(self, file: InboxFile, lines: Iterable[bytes]) -> bool:
        with self.written.open("wb") as stream:
            stream.writelines(lines)
        return True


class ForgettingChildren(Children):
    """Creator of children that stores none of them, and continues at the cursor."""

    def create(
        self,
        context: Context,
        drafts: Sequence[Draft],
        cursor: str | None,
        record: Callable[[Sequence[Placed]], None] | None = None,
    ) -> list[Placed]:
        placed = [
            Placed(job=replace(context.job, id=f"job_{uuid4().hex}"), duplicate=False)
            for _ in drafts
        ]
        if record is not None:
            record(placed)
        context.add_children([], [], cursor)
        return placed


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_the_longest_file_is_read_and_reported_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INBOX_LINES_MAX", LINES)
    monkeypatch.setattr(limits, "INBOX_READ_BYTES", 64 * 1024)  # little, compared with all lines
    crawl, inbox = CrawlWorld(), DiskInbox(tmp_path)
    with inbox.file.open("w") as stream:
        for number in range(LINES + 5):
            broken = number % 10 == 0
            stream.write("{\n" if broken else f'{{"url": "https://site.example/{number}"}}\n')
    job_id = InboxIngest(jobs=crawl.job_service())(_KEY, "v1")
    assert job_id is not None
    children = ForgettingChildren(
        store=crawl.store,
        queue=crawl.queue,
        kinds=crawl.kinds,
        clock=crawl.clock,
        new_id=crawl.new_id,
        move=crawl.control().move,
    )
    worker = Worker(
        store=crawl.store,
        queue=crawl.queue,
        kinds=crawl.kinds,
        handlers={
            CRAWL_FILE: FileHandler(
                store=inbox,
                checks=crawl.checks(),
                children=children,
                tagging=crawl.tagging(),
                clock=crawl.clock,
            )
        },
        clock=crawl.clock,
        random=lambda: 0.5,
        new_owner=lambda: "owner",
    )
    tracemalloc.start()
    try:
        worker.run(JobRef(tenant=TENANT, job_id=job_id), lambda: 900.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 1024 * 1024  # the libraries take about 1.5 MB of it
    lines = inbox.written.read_text().splitlines()
    numbers = [json.loads(line)["line"] for line in lines]
    assert numbers == [*range(1, LINES + 2)]  # the last one reports the excess lines
    assert sum("error" in json.loads(line) for line in lines) == LINES // 10 + 1
