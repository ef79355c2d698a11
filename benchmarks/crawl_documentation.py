"""Crawl Python's documentation, a set of real pages, through the deployed application.

Needs Debian's package python3.11-doc. An embedder that only hashes texts replaces the real one,
because its vectors cost nothing: the benchmark checks which pages and which words arrive.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import unquote

import boto3
import httpx
from lxml import html

from benchmarks.crawl_servers import DOCUMENTATION, documentation, quick_embedder
from benchmarks.instance import SITE_PORT, bench, endpoints, outputs
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.extraction.targets import without_targets
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.models import CrawlRef, FrontierPage, PageState
from stack.deployment import record

PAGES: Final = 300
SECONDS: Final = 480.0
TENANT: Final = "bench"
FEW: Final = 0.95
"""Share of a page's words; the benchmark lists the pages of which fewer words arrive."""
_WORD: Final = re.compile(r"\w+")


def crawl_documentation(client: httpx.Client) -> None:
    """Run the crawl, and print the outcomes of its pages, their links and their words."""
    print(f"\n| python3.11-doc, a deep crawl of {PAGES} pages | |\n|---|---|")
    body = {"url": f"http://127.0.0.1:{SITE_PORT}/index.html", "max_depth": 10, "max_pages": PAGES}
    begin = time.perf_counter()
    with documentation(SITE_PORT), quick_embedder() as model, _embedded_by(model):
        answer = client.post("/api/v1/crawl/deep", json=body).raise_for_status().json()
        job = _ended(client, answer["job_id"])
    seconds = time.perf_counter() - begin
    print(f"| ended | {job['status']}, {job['end_reason']}, {seconds:.0f} s |")
    print(f"| pages a second | {job['pages_crawled'] / seconds:.2f} |")
    rows = list(_rows(answer["job_id"]))
    for state, count in Counter(row.state.value for row in rows).most_common():
        print(f"| URLs {state} | {count} |")
    failures = Counter(row.error_code for row in rows if row.state is PageState.FAILED)
    for code, count in failures.most_common():
        print(f"| failed, {code} | {count} |")
    tried = sum(row.attempts for row in rows)
    print(f"| tries that failed and were made again | {tried} |")
    skipped: Counter[str] = Counter()
    for row in rows:
        skipped.update(row.skipped)
    for reason, count in skipped.most_common():
        print(f"| links not followed, {reason} | {count} |")
    _print_words(rows)


def _print_words(rows: list[FrontierPage]) -> None:
    dynamodb = boto3.resource("dynamodb", endpoint_url=_gateway()).meta.client
    documents = DynamoDocumentStore(dynamodb, outputs()["DocumentsTable"], outputs()["JobsTable"])
    s3 = boto3.client("s3", endpoint_url=_gateway())
    contents = S3ContentStore(s3, outputs()["ContentBucket"])
    crawled = [row for row in rows if row.state is PageState.CRAWLED and row.same_as is None]
    kept, whole, chunks, untitled, poor = 0, 0, 0, 0, []
    for row in crawled:
        assert row.document_id is not None, row
        document = documents.get(TENANT, row.document_id)
        if document is None:
            poor.append((0.0, row.url))
            continue
        chunks += document.chunk_count
        untitled += document.title is None
        wanted = _words_of_file(row.url)
        found = Counter(
            _words(without_targets(contents.get(document.content_key)).replace("\\", ""))
        )
        arrived = (wanted & found).total()
        kept, whole = kept + arrived, whole + wanted.total()
        if arrived < FEW * wanted.total():
            poor.append((arrived / wanted.total(), row.url))
    print(f"| documents, chunks, without title | {len(crawled)}, {chunks:,}, {untitled} |")
    print(
        f"| words of the pages' bodies that arrived | {kept:,} of {whole:,}, {kept / whole:.2%} |"
    )
    print(f"| pages of whose words less than {FEW:.0%} arrived | {len(poor)} |")
    for part, url in sorted(poor)[:12]:
        print(f"| … {unquote(url.split('/', 3)[3])} | {part:.0%} |")


def _words_of_file(url: str) -> Counter[str]:
    """Count the words of the body that Sphinx marks, without the links to headings."""
    path = unquote(url.split("/", 3)[3]).partition("?")[0] or "index.html"
    root = html.parse(str(DOCUMENTATION / path)).getroot()
    body = next(iter(root.xpath('//div[@role="main"]')), root)
    for mark in body.xpath('.//a[@class="headerlink"]'):
        mark.text = ""
    return Counter(_words(body.text_content()))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _rows(job_id: str) -> Iterator[FrontierPage]:
    dynamodb = boto3.resource("dynamodb", endpoint_url=_gateway()).meta.client
    store = DynamoFrontierStore(dynamodb, outputs()["FrontierTable"])
    after: str | None = None
    while True:
        found = store.pages(CrawlRef(TENANT, job_id), None, after, 100)
        yield from found.pages
        after = found.after
        if after is None:
            return


@contextmanager
def _embedded_by(url: str) -> Iterator[None]:
    """Let the step that crawls pages use another embedder until the block ends."""
    name = record.current(bench()).resources["DeepCrawlStep"]
    functions: Any = boto3.client("lambda", endpoint_url=_gateway())
    before = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    changed = {**before, "EMBEDDER_URL": url}
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": changed})
    functions.get_waiter("function_updated_v2").wait(FunctionName=name)
    try:
        yield
    finally:
        functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": before}
        )


def _ended(client: httpx.Client, job_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + SECONDS
    while True:
        job: dict[str, Any] = client.get(f"/api/v1/crawl/{job_id}").raise_for_status().json()
        late = time.monotonic() > deadline
        if job["status"] in {"completed", "failed", "cancelled"} or late:
            return job
        time.sleep(1)


def _gateway() -> str:
    found: str = endpoints()["gateway"]
    return found
