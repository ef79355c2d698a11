"""Writes the catalogue of checks and the reports' schema: `python docs/render_audits.py`."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "layers" / "common")]

from spinneret.audits.checks.catalogue import (
    IN_A_BROWSER,
    catalogue,
    version,
)
from spinneret.audits.checks.models import Category, CheckScope
from spinneret.audits.reports.schema import json_schema
from spinneret.audits.scoring import cost

PAGE = ROOT / "docs" / "audits.md"
SCHEMA = ROOT / "docs" / "audit-report.schema.json"
BEGIN, END = "<!-- catalogue -->\n", "<!-- end catalogue -->\n"
_SCOPES = {
    CheckScope.PAGE: "page",
    CheckScope.PAGE_IN_SITE: "page in site",
    CheckScope.SITE: "site",
}


def table() -> str:
    """Weights by category, then every check, and what isn't judged without a browser."""
    checks = catalogue()
    lines = [f"Version {version()}: {len(checks)} checks.", ""]
    lines += ["| category | checks | weight on a page | weight on the site |", "|---|---|---|---|"]
    for category in Category:
        own = [check for check in checks if check.category is category]
        of_site = sum(check.weight for check in own if check.scope is CheckScope.SITE)
        of_pages = sum(check.weight for check in own) - of_site
        lines.append(f"| {category} | {len(own)} | {of_pages} | {of_site} |")
    lines += [
        "",
        "| check | finds | severity | weight | costs | looks at | after |",
        "|---|---|---|---|---|---|---|",
    ]
    for category in Category:
        for check in checks:
            if check.category is category:
                after = ", ".join(f"`{name}`" for name in check.after)
                lines.append(
                    f"| `{check.id}` | [{check.title}]({check.source}) | {check.severity} "
                    f"| {check.weight} | {100 * cost(check):.2f} % "
                    f"| {_SCOPES[check.scope]} | {after} |"
                )
    lines += ["", "Not judged, or only in the browser of `render`:", ""]
    lines += [f"- {what}: {why}." for what, why in IN_A_BROWSER.items()]
    return "\n".join(lines) + "\n"


def rendered(text: str) -> str:
    """The page with its table as the code has it."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


def schema() -> str:
    """The published schema of the JSON report."""
    return json.dumps(json_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text()))
    SCHEMA.write_text(schema())
