"""Takes the pictures of docs/console.md: `python docs/render_console.py` after `make demo`.

The pages show what the demonstration's tenant has on the instance (`--instance`, by default dev):
its crawl, and an audit of the demonstration's website, which is made here.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.sync_api import expect

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common"), str(ROOT / "infra" / "local")]

from spinneret.access.keys.models import Scope
from stack.demo import TENANT
from stack.deployment import record
from stack.instance import DEFAULT_NAME, Instance
from stack.key import issue
from stack.workspace import Workspace
from tests.consoles import NARROW, WIDE, Window, running_browser

IMAGES: Final = ROOT / "docs" / "images"
MOST_BYTES: Final = 120_000
LANDSCAPE: Final = {**WIDE, "viewport": {"width": 1280, "height": 760}}
AUDIT_SECONDS: Final = 180.0
SETTLE_MS: Final = 1_500  # charts and lists that follow the first ones


@dataclass(frozen=True)
class Picture:
    """A place of the console, and the window that it is shown in."""

    name: str
    place: str
    size: Mapping[str, Any]


def pictures(api: httpx.Client, website: str) -> list[Picture]:
    """Return the pictures: of the newest crawl that the tenant has, and of an audit."""
    crawl = _newest(api, "/api/v1/jobs?kind=deep_crawl&limit=1", "job_id")
    audit = _audited(api, website)
    return [
        Picture("console-home", "home", LANDSCAPE),
        Picture("console-crawl", f"crawl/job/{crawl}", LANDSCAPE),
        Picture("console-search", "search?q=how%20does%20a%20spider%20fly", LANDSCAPE),
        Picture("console-audit", f"audits/audit/{audit}", LANDSCAPE),
        Picture("console-jobs-narrow", "jobs", NARROW),
    ]


def main() -> None:
    """Write the pictures. Raises SystemExit if one is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instance", default=DEFAULT_NAME)
    parser.add_argument("--url", help="address of the console, by default the instance's own")
    arguments = parser.parse_args()
    instance = Instance.named(arguments.instance, Workspace.from_environment(os.environ))
    endpoints = record.endpoints(instance)
    api_url = record.current(instance).api_url(endpoints["gateway"])
    console = arguments.url or f"{api_url}/console/index.html"
    key = issue(instance, TENANT, Scope.ADMIN)
    headers = {"X-API-Key": key}
    with httpx.Client(base_url=api_url, headers=headers, timeout=60, trust_env=False) as api:
        chosen = pictures(api, endpoints["website"])
    with running_browser() as browser:
        for each in chosen:
            window = Window(browser, each.size)
            window.page.goto(f"{console}#/sign-in/key")
            window.page.get_by_label("API key").fill(key)
            window.page.get_by_role("button", name="Use this key").click()
            expect(window.page.get_by_role("heading", name="Home")).to_be_visible()
            window.page.goto(f"{console}#/{each.place}")
            expect(window.page.locator("main h1")).to_be_visible()
            expect(window.page.locator(".loading")).to_have_count(0)
            window.page.wait_for_timeout(SETTLE_MS)
            target = IMAGES / f"{each.name}.png"
            window.page.screenshot(path=target)
            window.close()
    large = [each.name for each in chosen if _size(each) > MOST_BYTES]
    if large:
        raise SystemExit(f"larger than {MOST_BYTES} bytes: {', '.join(large)}")


def _newest(api: httpx.Client, path: str, name: str) -> str:
    items = api.get(path).raise_for_status().json()["items"]
    if not items:
        raise SystemExit(f"{path} lists nothing: run `make demo` first")
    return str(items[0][name])


def _audited(api: httpx.Client, website: str) -> str:
    """Audit the website; return the audit's id when it has ended."""
    submitted = api.post("/audits", json={"url": website}).raise_for_status()
    audit_id = str(submitted.json()["audit_id"])
    deadline = time.monotonic() + AUDIT_SECONDS
    while api.get(f"/audits/{audit_id}").raise_for_status().json()["finished_at"] is None:
        if time.monotonic() > deadline:
            raise SystemExit(f"the audit {audit_id} takes more than {AUDIT_SECONDS:.0f} s")
        time.sleep(0.5)
    return audit_id


def _size(picture: Picture) -> int:
    return (IMAGES / f"{picture.name}.png").stat().st_size


if __name__ == "__main__":
    main()
