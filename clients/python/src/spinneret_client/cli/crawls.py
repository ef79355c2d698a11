"""Commands `crawl`, `batch` and `discover`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import urls_in
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.errors import ConfigurationError, InvalidRequest
from spinneret_client.generated import models as m
from spinneret_client.generated import requests as r
from spinneret_client.jobs import fetched

BATCH_URLS: Final = 100
NAME_CHARS: Final = 100

Render = Literal["always", "auto"]
Strategy = Literal["bfs", "dfs", "best_first"]
Out = Annotated[Path | None, typer.Option(help="Write a markdown file for each page; waits.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until all is crawled.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example: spinneret crawl https://example.com/ --deep --out pages")(crawl)
    app.command(epilog="Example: spinneret batch urls.txt --wait")(batch)
    app.command(epilog="Example: spinneret discover example.com --query 'opening hours'")(discover)


def crawl(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(help="Pages, or with --deep one start page.")],
    deep: Annotated[bool, typer.Option("--deep", help="Follow the links of one site.")] = False,
    max_pages: Annotated[int, typer.Option(help="Most pages of a deep crawl.")] = 100,
    strategy: Annotated[Strategy, typer.Option(help="Order of a deep crawl.")] = "bfs",
    render: Annotated[
        Render | None,
        typer.Option(help="Open the one page in a browser; auto: only if it has no text."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Crawl pages of today again.")] = False,
    wait: Wait = False,
    out: Out = None,
) -> None:
    """Crawl pages, or a whole site."""
    tools = tools_of(context)
    wait = wait or out is not None
    if render is not None and (deep or len(urls) != 1):
        raise ConfigurationError("--render takes one page; configs render batches")
    if deep:
        if len(urls) != 1:
            raise ConfigurationError("--deep takes one start page")
        job = tools.client.crawls.create_deep(
            url=urls[0], max_pages=max_pages, strategy=strategy, force=force
        )
        _finish(tools, [(urls[0], job.job_id)], job, wait=wait, out=out)
    elif len(urls) == 1:
        asked: r.CrawlRequest = {"url": urls[0], "force": force}
        if render is not None:
            asked["render"] = "auto" if render == "auto" else True
        created = tools.client.crawls.create(**asked)
        assert isinstance(created, m.Submission)  # other requests have other responses
        _finish(tools, [(urls[0], created.job_id)], created, wait=wait, out=out)
    else:
        _batches(tools, urls, force=force, wait=wait, out=out)


def batch(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A URL in each line; `-` reads stdin.")],
    force: Annotated[bool, typer.Option("--force", help="Crawl pages of today again.")] = False,
    wait: Wait = False,
    out: Out = None,
) -> None:
    """Crawl all URLs of a file."""
    urls = urls_in(file)
    if not urls:
        raise ConfigurationError(f"{file} has no URLs")
    _batches(tools_of(context), urls, force=force, wait=wait or out is not None, out=out)


def discover(
    context: typer.Context,
    domain: Annotated[str, typer.Argument(help="Domain or start URL.")],
    query: Annotated[str | None, typer.Option(help="Rank the URLs by this query.")] = None,
    pattern: Annotated[str | None, typer.Option(help="Only URLs of this pattern.")] = None,
    max_urls: Annotated[int, typer.Option(help="Most URLs, up to 500.")] = 500,
) -> None:
    """List the URLs of a site without crawling them."""
    tools = tools_of(context)
    discovery = tools.client.discovery
    begun = discovery.create(domain=domain, pattern=pattern, score_query=query, max_urls=max_urls)
    done = tools.follow(begun.job_id, discovery.stream(begun.job_id), discovery.get)
    found = list(discovery.urls(begun.job_id))

    def text() -> None:
        for each in found:
            tools.output.line(each.url if each.score is None else f"{each.score:.2f}  {each.url}")
        tools.output.note(f"{len(found)} URLs; {done.status}")

    tools.output.result({"job_id": begun.job_id, "status": done.status, "urls": found}, text)
    exits.leave(exits.code_of([done.status]))


def _batches(tools: Tools, urls: list[str], *, force: bool, wait: bool, out: Path | None) -> None:
    jobs: list[tuple[str, str]] = []
    refused: list[tuple[str, str]] = []
    for start in range(0, len(urls), BATCH_URLS):
        part = urls[start : start + BATCH_URLS]
        try:
            made = tools.client.crawls.create_batch(urls=part, force=force)
        except InvalidRequest as error:
            if len(refused) == start and start + BATCH_URLS >= len(urls):
                raise  # no URL of any part was accepted
            faults = dict(error.fields)
            refused += [
                (url, faults.get(f"urls.{number}", error.message))
                for number, url in enumerate(part)
            ]
            continue
        jobs += [(each.url, each.job_id) for each in made.jobs if each.job_id]
        refused += [
            (each.url, each.error.error if each.error else each.message)
            for each in made.jobs
            if not each.job_id
        ]
    for url, reason in refused:
        tools.output.note(f"refused: {url}: {reason}")
    submitted = {"jobs": [{"url": url, "job_id": job_id} for url, job_id in jobs]}
    refusals = [{"url": url, "message": reason} for url, reason in refused]
    _finish(tools, jobs, {**submitted, "refused": refusals}, wait=wait, out=out)
    exits.leave(exits.UNFINISHED if refused else exits.DONE)


def _finish(
    tools: Tools, jobs: list[tuple[str, str]], submission: Any, *, wait: bool, out: Path | None
) -> None:
    if not wait:

        def text() -> None:
            for url, job_id in jobs:
                tools.output.line(f"{job_id}  {url}")
            tools.output.note("watch one: spinneret jobs watch " + (jobs[0][1] if jobs else "ID"))

        tools.output.result(submission, text)
        return
    crawls = tools.client.crawls
    ended = [tools.follow(job, crawls.stream(job), crawls.get) for _, job in jobs]
    files = _written(tools, ended, out) if out is not None else []

    def summary() -> None:
        for (url, _), each in zip(jobs, ended, strict=True):
            reason = f": {each.error.error}" if each.error is not None else ""
            tools.output.line(f"{each.status:<10} {url}{reason}")
        if out is not None:
            tools.output.line(f"{len(files)} files in {out}")

    document = {"jobs": ended, "files": [str(each) for each in files]}
    tools.output.result(ended if tools.output.form == "jsonl" else document, summary)
    exits.leave(exits.code_of(each.status for each in ended))


def _written(tools: Tools, ended: list[Any], out: Path) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for crawl in ended:
        for url, text in _texts(tools, crawl):
            path = out / file_name(url)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def _texts(tools: Tools, crawl: Any) -> Iterator[tuple[str, str]]:
    """Yield the URL and markdown of each page of a crawl."""
    if isinstance(crawl, m.DeepCrawlView):
        for page in tools.client.crawls.pages(crawl.job_id, status="crawled"):
            document_id = getattr(page, "document_id", None)
            if document_id:
                yield page.url, tools.client.documents.text(document_id)
    elif crawl.markdown is not None:
        yield crawl.url, crawl.markdown
    elif crawl.markdown_url is not None:
        yield crawl.url, fetched(tools.client.transport, crawl.markdown_url).decode()


def file_name(url: str) -> str:
    """Return a file name for a URL; its digest makes it unique."""
    parts = urlsplit(url)
    words = re.sub(r"[^A-Za-z0-9.]+", "-", f"{parts.hostname}{parts.path}").strip("-.")
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{words[:NAME_CHARS]}-{digest}.md"
