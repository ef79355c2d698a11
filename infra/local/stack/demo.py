"""`demo`: the product's main use, through its API: crawl pages, then search them.

All requests use the deployed HTTP API, like a user's own program.
"""

import argparse
import os
import secrets
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from spinneret.access.keys.models import Scope
from stack import deploy
from stack.demo_publish import give_client_keys
from stack.deployment import record
from stack.errors import StackError
from stack.instance import Instance
from stack.key import issue
from stack.user import invite
from stack.workspace import Workspace

TENANT: Final = "demo"
CLIENT: Final = Path(sys.executable).with_name("spinneret")
CRAWL_SECONDS: Final = 180.0
REQUEST_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.25
HITS: Final = 3
EXCERPT: Final = 220
QUERIES: Final = (
    "which gland makes the silk of the sticky capture spiral?",
    "how does a spider fly without wings",
    "Jacquard loom punched cards",
)
_DEPTH: Final = {"max_depth": 3, "max_pages": 12, "score_threshold": 0.0}
_KEY: Final = '-H "X-API-Key: $KEY"'
_JSON: Final = f'{_KEY} -H "Content-Type: application/json"'
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the option for the page to crawl."""
    parser.add_argument("--url", help="crawl this page instead of the website that comes along")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Start everything, crawl and search; return 1 when a crawl failed."""
    if arguments.url:
        _require_known_host(arguments.url)
    instance = Instance.named(arguments.instance, workspace)
    deployment = deploy.ensure(instance, workspace)
    endpoints = record.endpoints(instance)
    api = deployment.api_url(endpoints["gateway"])
    give_client_keys(deployment, endpoints["gateway"])
    secret = issue(instance, TENANT, Scope.ADMIN)
    with httpx.Client(
        base_url=api, headers={"X-API-Key": secret}, timeout=REQUEST_SECONDS, trust_env=False
    ) as client:
        demo = _Demo(client)
        if arguments.url:
            for each in demo.crawl([arguments.url]):
                demo.search(each["title"] or arguments.url)
        else:
            # Imported here, because the website is not part of the command line.
            from tests.site.server import page_paths  # noqa: PLC0415 - see above

            demo.crawl([endpoints["website"] + path for path in page_paths()])
            for query in QUERIES:
                demo.search(query)
            demo.explore(f"{endpoints['website']}/")
        page = arguments.url or f"{endpoints['website']}/ballooning"
        farewell(api, secret, page, demo.last_job)
        show_client(sign_in(instance, api, secret), page, demo.last_job)
        show_console(instance, api)
    return 1 if demo.failed else 0


class _Demo:
    """The steps, each with its lines on the terminal."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self.failed = 0
        self.last_job = ""

    def crawl(self, urls: Sequence[str]) -> list[dict[str, Any]]:
        """Submit pages, wait until all are finished, and return the results."""
        begin = time.monotonic()
        print(f"\n{_bold('Crawling')} {len(urls)} page{'s' * (len(urls) > 1)}")
        answer = self._ask("POST", "/api/v1/crawl/batch", {"urls": list(urls), "force": True})
        waiting = {}
        for each in answer["jobs"]:
            if each["job_id"]:
                waiting[each["job_id"]] = each["url"]
            else:
                self.failed += 1
                print(f"  refused  {each['url']}: {each['error']['error']}")
        results = self._follow(waiting, begin)
        chunks, tokens = (sum(each[what] for each in results) for what in ("chunks", "tokens"))
        seconds = time.monotonic() - begin
        print(f"  {len(results)} pages, {chunks} chunks, {tokens} tokens in {seconds:.1f} s")
        return results

    def explore(self, url: str) -> None:
        """Run a deep crawl, and print its counters when they change."""
        begin = time.monotonic()
        print(f"\n{_bold('Crawling')} {url} by its links, best first")
        wanted = {"url": url, "strategy": "best_first", "keywords": ["silk"], **_DEPTH}
        job_id = self._ask("POST", "/api/v1/crawl/deep", {**wanted, "force": True})["job_id"]
        shown = ""
        while True:
            crawl = self._ask("GET", f"/api/v1/crawl/{job_id}")
            counts = (
                f"{crawl['pages_crawled']} crawled, {crawl['pages_failed']} failed, of"
                f" {crawl['pages_discovered']} discovered, depth {crawl['current_depth']}"
            )
            if counts != shown:
                print(f"  {time.monotonic() - begin:5.1f} s  {counts}", flush=True)
                shown = counts
            if crawl["finished_at"] is not None:
                break
            if time.monotonic() > begin + CRAWL_SECONDS:
                raise StackError(f"the site wasn't crawled in {CRAWL_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        self.last_job = job_id
        self.failed += crawl["status"] != "completed"
        print(f"  {crawl['status']}: {crawl['end_reason'] or crawl['error']}")

    def _follow(self, waiting: dict[str, str], begin: float) -> list[dict[str, Any]]:
        total, results = len(waiting), []
        deadline = begin + CRAWL_SECONDS
        while waiting:
            for job_id, url in list(waiting.items()):
                job = self._ask("GET", f"/api/v1/crawl/{job_id}")
                if job["status"] in ("pending", "running") and not job["redrives"]:
                    continue
                del waiting[job_id]
                self._finished(job, url, f"{total - len(waiting):>3}/{total}")
                results += [job["result"]] if job["status"] == "completed" else []
            if waiting and time.monotonic() > deadline:
                raise StackError(f"{len(waiting)} pages weren't finished in {CRAWL_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        return results

    def _finished(self, job: dict[str, Any], url: str, count: str) -> None:
        self.last_job = job["job_id"]
        if job["status"] != "completed":
            self.failed += 1
            state = "will be tried again later" if job["redrives"] else job["status"]
            print(f"  {count}  {url}: {state}: {job['error']['error']}")
            return
        result = job["result"]
        state = "unchanged" if result["unchanged"] else f"{result['chunks']} chunks"
        print(f"  {count}  {result['title'] or url}  {_dim(state)}", flush=True)

    def search(self, query: str) -> None:
        """Run one hybrid search, and print its results."""
        begin = time.monotonic()
        answer = self._ask("POST", "/api/v1/search", {"query": query, "limit": HITS})
        milliseconds = (time.monotonic() - begin) * 1000
        timing = f"{answer['latency_ms']:.0f} ms inside, {milliseconds:.0f} ms with the gateway"
        print(f"\n{_bold('Searching')} “{query}” {_dim(timing)}")
        for number, hit in enumerate(answer["results"], start=1):
            legs = " ".join(
                f"{leg} {hit[f'{leg}_score']:.2f}"
                for leg in ("vector", "keyword")
                if hit[f"{leg}_score"] is not None
            )
            heading = f" > {hit['section_header']}" if hit["section_header"] else ""
            print(f"  {number}. {hit['score']:.4f} ({legs})  {_bold(hit['title'] or '')}{heading}")
            print(f"     {_dim(hit['url'])}")
            print(textwrap.indent(textwrap.fill(_excerpt(hit), 92), "     "))
        if not answer["results"]:
            print("  nothing found")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        response = self._client.request(method, path, json=body)
        answer = response.json()
        if response.is_error:
            raise StackError(f"{answer.get('code')}: {answer.get('error')}{_reasons(answer)}")
        return answer


def farewell(api: str, secret: str, page: str, job_id: str) -> None:
    """Print commands to paste, about a page that the stack can reach and a job that has ended."""
    print(f"\n{_bold('Now you')} (the key is for tenant {TENANT} and shown once)")
    print(f"  export API={api} KEY={secret}")
    for path, body in (
        ("api/v1/search", '{"query": "sticky silk", "limit": 1}'),
        ("api/v1/crawl", f'{{"url": "{page}", "wait": 25}}'),
        ("audits", f'{{"url": "{page}", "options": {{"max_pages": 5}}}}'),
        ("v1/targets", f'{{"url": "{page}"}}'),
    ):
        print(f"""  curl -s $API/{path} {_JSON} -d '{body}'""")
    if job_id:
        print(f"  curl -s $API/api/v1/jobs/{job_id}/timeline {_KEY}")
    print(f"  {api}/docs    all routes, to read and to try out")
    print("  README.md and docs/tutorials go on from here")
    print("  make demo URL=https://…    crawl a page of the web")
    print("  make status | logs | down  look at the local stack, stop it")


def show_console(instance: Instance, api: str) -> None:
    """Print the console's address with an invitation, which works once."""
    # Each run invites another person, since an address has one account.
    email = f"demo-{secrets.token_hex(3)}@example.com"
    invitation = invite(instance, TENANT, email)
    print(f"\n{_bold('Or in a browser')} (the link works once, for {email}, within 72 hours)")
    print(f"  {api}/console/index.html#/invitation?tenant={TENANT}&invitation={invitation}")


def sign_in(instance: Instance, api: str, secret: str) -> Path:
    """Store the key in a profile of the command line, below the instance; return its folder."""
    folder = instance.folder / "client"
    done = subprocess.run(
        [CLIENT, "login", "--url", api, "--key-stdin", "--quiet"],
        input=secret,
        env={**os.environ, "SPINNERET_CONFIG_HOME": str(folder)},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise StackError(f"the command line can't sign in: {done.stderr.strip()}")
    return folder


def show_client(folder: Path, page: str, job_id: str) -> None:
    """Print four commands of the command line, about the same page and job."""
    print(f"\n{_bold('Or by the command line')} (its profile has the same key)")
    print(f"  export SPINNERET_CONFIG_HOME={folder}")
    for arguments in (
        f"crawl {page} --wait",
        'search "sticky silk"',
        f"check {page}",
        f"jobs watch {job_id}" if job_id else "jobs list",
    ):
        print(f"  {CLIENT} {arguments}")


def _reasons(answer: dict[str, Any]) -> str:
    """Return the faults of all fields, as a part of a sentence."""
    fields = answer.get("details", {}).get("fields", [])
    return "".join(f"; {each['path']}: {each.get('message', '')}" for each in fields)


def _require_known_host(url: str) -> None:
    """Raise StackError for an unknown host, which the crawl would retry for minutes."""
    host = urlsplit(url).hostname
    if host is None:
        raise StackError(f"{url} names no host: expected https://…")
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:  # UnicodeError for an empty or overlong label
        raise StackError(f"the name {host} can't be resolved: {error}") from error


def _excerpt(hit: dict[str, Any]) -> str:
    """Return the text around the first match, with matches in bold."""
    text, ranges = hit["content"], hit["highlights"]
    start = text.rfind(" ", 0, max(0, ranges[0][0] - 60)) + 1 if ranges else 0
    end = start + EXCERPT
    parts, position = [], start
    for begin, stop in ranges:
        if begin >= position and stop <= end:
            parts += [text[position:begin], _bold(text[begin:stop])]
            position = stop
    parts.append(text[position:end])
    return ("… " if start else "") + " ".join("".join(parts).split()) + " …"


def _bold(text: str) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if sys.stdout.isatty() else text


def _dim(text: str) -> str:
    return f"{_DIM}{text}{_PLAIN}" if sys.stdout.isatty() else text
