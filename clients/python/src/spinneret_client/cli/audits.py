"""Command `audit`, for continuous integration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from spinneret_client.cli import exits
from spinneret_client.cli.options import given, headers_of, sharing, urls_in
from spinneret_client.cli.output import unread_at_will
from spinneret_client.cli.tools import Tools, tools_of
from spinneret_client.errors import ConfigurationError
from spinneret_client.jobs import ReportFormat

ISSUES = 10


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Example: spinneret audit https://example.com/ --fail-under 90"
        " --format sarif --out audit.sarif"
    )(audit)


def asked(
    url: Annotated[str | None, typer.Argument(help="Site to audit.")] = None,
    fail_under: Annotated[
        float | None, typer.Option(min=0, max=100, help="Score below which it fails.")
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Most pages.")] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Pattern of URLs to audit, such as /blog/**.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Pattern of URLs to leave out.")] = None,
    off: Annotated[
        list[str] | None, typer.Option(help="Id of a check that isn't judged; repeatable.")
    ] = None,
    urls: Annotated[
        Path | None, typer.Option(help="File of pages to audit instead of a site, one a line.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="`Name: value` for a staging site; repeatable.")
    ] = None,
    cookie: Annotated[str | None, typer.Option(help="`name=value` for a staging site.")] = None,
    render: Annotated[
        bool, typer.Option("--render", help="Open pages in a browser; take lab figures.")
    ] = False,
) -> dict[str, Any]:
    """Return the request for an audit, or for each audit of a schedule."""
    options = given(
        include=include,
        exclude=exclude,
        checks_off=off,
        max_pages=max_pages,
        render=render or None,
        urls=None if urls is None else urls_in(urls),
    )
    headers = headers_of(header)
    return given(url=url, options=options, fail_under=fail_under, headers=headers, cookie=cookie)


@sharing(asked)
def audit(
    context: typer.Context,
    shared: Any,
    format: Annotated[ReportFormat | None, typer.Option(help="Form of the report.")] = None,  # noqa: A002 - the API's word
    out: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
) -> None:
    """Audit a site, or a list of pages, and print the score; exit with 2 if it fails."""
    tools = tools_of(context)
    if out is not None and format is None:
        raise ConfigurationError("--out needs --format")
    if format is not None and out is None and tools.output.form != "text":
        raise ConfigurationError("--format without --out prints the report: leave out --json")
    audits = tools.client.audits
    begun = audits.create(**shared)
    done = tools.follow(begun.audit_id, audits.stream(begun.audit_id), audits.get)
    if format is not None and done.score is not None:
        report = audits.download(done.audit_id, format)
        if out is not None:
            out.write_bytes(report)
        else:
            with unread_at_will():
                sys.stdout.buffer.write(report)
    if format is None or out is not None:
        tools.output.result(done, lambda: _text(tools, done))
    exits.leave(_gate(tools, done, shared.get("fail_under")))


def _text(tools: Tools, audit: Any) -> None:
    if audit.score is None:
        tools.output.line(f"{audit.status} {audit.url}: {audit.error_summary or 'no score'}")
        return
    change = f" ({audit.score_change:+.1f})" if audit.score_change is not None else ""
    tools.output.line(
        f"score {audit.score:.1f}{change}, grade {audit.grade}: {audit.url}", style="bold"
    )
    rows = [
        (name, "-" if each is None else f"{each:.1f}")
        for name, each in (audit.categories or {}).items()
    ]
    tools.output.table(["category", "score"], rows)
    if lab := (audit.result or {}).get("lab"):
        rows = [(name, "-" if each is None else f"{each:g}") for name, each in lab.items()]
        tools.output.table(["lab figure, median", "value"], rows)
    for issue in tools.client.audits.issues(audit.audit_id, max_items=ISSUES):
        tools.output.line(f"{issue.severity:<8} {issue.title}  {issue.url}")
    tools.output.note(f"all issues: spinneret audit {audit.url} --format html --out report.html")


def _gate(tools: Tools, audit: Any, fail_under: float | None) -> int:
    """Return the exit code, and print an error for a missing or low score."""
    code = exits.code_of([audit.status])
    if audit.score is None:
        tools.output.problem(
            f"the audit ended as {audit.status}: {audit.error_summary or 'no score'}"
        )
        return code or exits.FAULT
    if fail_under is not None and audit.score < fail_under:
        tools.output.problem(f"the score {audit.score:.1f} is below {fail_under:g}")
        return exits.GATE
    return code
