"""Measure the console's pages with Lighthouse: `python benchmarks/console.py`.

The pages come from the layer, compressed as by API Gateway, on an API of documented shapes. The
command fails if a page has fewer than 95 points for performance, accessibility or best practices.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common"), str(ROOT / "infra" / "local")]

from spinneret.runtime.console.site import read_site
from stack.tools.npm import with_npm
from stack.tools.store import Store
from stack.workspace import Workspace
from tests.consoles import FLAGS, built_console, installed_browser
from tests.fakes.described_api import DescribedApi, console_on

LIGHTHOUSE: Final = "lighthouse@12.8.2"  # later versions need Node 22
CATEGORIES: Final = ("performance", "accessibility", "best-practices")
LEAST: Final = 95
SECONDS: Final = 400.0  # for the installation and one page on a busy machine
PLACES: Final = ("home", "search?q=silk", "audits/audit/x", "publish/products", "settings/keys")
TEXTS: Final = ("https://example.com/orb-webs", "Orb webs", "spider", "A wheel of silk")


def main() -> None:
    """Print the scores of all pages. Raises SystemExit if a score is too low."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=["desktop", "mobile"], default="desktop")
    parser.add_argument("places", nargs="*", default=PLACES)
    arguments = parser.parse_args()
    few = []
    print(f"| page | {' | '.join(CATEGORIES)} | largest content shown after |")
    with tempfile.TemporaryDirectory(prefix="spinneret-lighthouse-") as scratch:
        site = read_site(built_console(Path(scratch)))
        with console_on(DescribedApi(TEXTS), site) as url:
            for place in arguments.places:
                report = measured(f"{url}#/{place}", arguments.preset)
                points = [round(100 * report["categories"][name]["score"]) for name in CATEGORIES]
                shown = report["audits"]["largest-contentful-paint"]["displayValue"]
                print(f"| {place} | {' | '.join(map(str, points))} | {shown} |")
                if min(points) < LEAST:
                    few += [f"{place}: {each}" for each in lost(report)]
    if few:
        raise SystemExit("\n".join(few))


def measured(url: str, preset: str) -> Mapping[str, Any]:
    """Return Lighthouse's report about one page."""
    program, variables = installed_browser()
    npm = with_npm(Store(Workspace.from_environment(os.environ)), os.environ)
    flags = " ".join(("--headless", *FLAGS))
    words = ["--quiet", "--output=json", f"--only-categories={','.join(CATEGORIES)}"]
    if preset == "desktop":
        words.append("--preset=desktop")
    done = subprocess.run(
        ["npx", "--yes", LIGHTHOUSE, url, *words, f"--chrome-flags={flags}"],
        env={**npm, "CHROME_PATH": str(program), **variables, "HOME": npm["HOME"]},
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    report: Mapping[str, Any] = json.loads(done.stdout)
    return report


def lost(report: Mapping[str, Any]) -> list[str]:
    """Return the audits that cost points, with their values."""
    counted = {
        audit["id"]
        for name in CATEGORIES
        for audit in report["categories"][name]["auditRefs"]
        if audit["weight"]
    }
    return [
        f"{audit['title']} {audit.get('displayValue', '')}".strip()
        for name, audit in report["audits"].items()
        if name in counted and audit["score"] is not None and audit["score"] < 1
    ]


if __name__ == "__main__":
    main()
