"""Writes what documentation takes from the code: `python docs/render.py`."""

import importlib
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = ROOT / "functions"
TEMPLATE = ROOT / "template.yaml"
CLIENT = ROOT / "clients" / "python" / "generate.py"
sys.path[:0] = [str(ROOT / "layers" / "common"), str(FUNCTIONS), str(ROOT / "infra" / "local")]

from spinneret.access.keys.models import INCLUDED, Scope
from spinneret.access.permissions import (
    ROLE_PERMISSIONS,
    Role,
)
from spinneret.jobs.models import JobStatus, Transition
from spinneret.jobs.rules import TERMINAL, TRANSITIONS
from spinneret.runtime.http.access import access_table
from spinneret.runtime.openapi.document import document, text_of
from stack.deployment import settings, template_parameters

JOBS = ROOT / "docs" / "job-kernel.md"
OPENAPI = ROOT / "layers" / "common" / "spinneret" / "runtime" / "openapi" / "openapi.json"
ACCESS = ROOT / "docs" / "access.md"
CONFIGURATION = ROOT / "docs" / "configuration.md"
BEGIN, END = "<!-- transitions -->\n", "<!-- end -->\n"
BEGIN_SETTINGS, END_SETTINGS = "<!-- settings -->\n", "<!-- end settings -->\n"
BEGIN_STACK_OWN, END_STACK_OWN = "<!-- stack -->\n", "<!-- end stack -->\n"


def transitions() -> str:
    """The state machine as a Markdown table: a row per move, a column per state that has one."""
    states = [status for status in JobStatus if any(origin is status for origin, _ in TRANSITIONS)]
    lines = ["| move \\ from | " + " | ".join(states) + " |", "|---" * (len(states) + 1) + "|"]
    for move in Transition:
        targets = [TRANSITIONS.get((status, move), "") for status in states]
        lines.append(f"| {move} | " + " | ".join(targets) + " |")
    resting = ", ".join(status for status in JobStatus if status in TERMINAL)
    return "\n".join([*lines, "", f"Terminal: {resting}."]) + "\n"


def rendered(text: str) -> str:
    """The page with its table as the code has it."""
    return _between(text, BEGIN, END, transitions().splitlines())


def configuration(text: str) -> str:
    """The page with the declarations of the template's parameters."""
    text = _between(text, BEGIN_SETTINGS, END_SETTINGS, _setting_rows())
    return _between(text, BEGIN_STACK_OWN, END_STACK_OWN, _stack_own_rows())


def _setting_rows() -> list[str]:
    return [
        "| parameter | variable | default | range | what it does |",
        "|---|---|---|---|---|",
        *(
            f"| {each.name} | `{each.variable}` | {_code(each.parameter.default)} "
            f"| {_code(each.parameter.range)} | {each.meaning} |"
            for each in settings.known(TEMPLATE).values()
            if each.parameter is not None
        ),
    ]


def _stack_own_rows() -> list[str]:
    declared = template_parameters.read(TEMPLATE)
    rows = [
        "| parameter | set on AWS by | default | range | what it does |",
        "|---|---|---|---|---|",
    ]
    for name, setter in settings.STACK_OWN.items():
        each = declared[name]
        cells = (name, setter, _code(each.default), _code(each.range), each.meaning)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _between(text: str, begin: str, end: str, lines: Iterable[str]) -> str:
    """The page with these lines between two marks."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return before + begin + "\n".join(lines) + "\n" + end + after


def _code(value: str) -> str:
    return f"`{value}`".replace("|", "\\|") if value else ""


def access() -> str:
    """The page of every route and the credentials that it admits."""
    return "\n".join(
        [
            "# Access by route",
            "",
            "`python docs/render.py` writes this page from the declarations of the routes.",
            "A key needs the route's scope; a key issued with `permissions` also needs the route's",
            "permission. A person needs the permission, which the role has or lacks.",
            "● admits, · answers 403; *open* needs no credential.",
            "",
            *_route_rows(),
            "",
        ]
    )


def _route_rows() -> list[str]:
    lines = [
        "| "
        + " | ".join(["route", "permission", *(f"key {each}" for each in Scope), *Role])
        + " |",
        "|---" * (len(Scope) + len(Role) + 2) + "|",
    ]
    rows = [row for area in _areas() for row in access_table(_app(area)).rows]
    for row in sorted(rows, key=lambda row: (row.route, row.method)):
        marks = [_mark(row.scope is None or row.scope in INCLUDED[scope]) for scope in Scope]
        marks += [
            _mark(row.permission is None or row.permission in ROLE_PERMISSIONS[role])
            for role in Role
        ]
        permission = f"`{row.permission}`" if row.permission else "*open*"
        route = row.route.replace("<", "{").replace(">", "}")
        lines.append(f"| `{row.method} {route}` | {permission} | " + " | ".join(marks) + " |")
    return lines


def _mark(admits: bool) -> str:
    return "●" if admits else "·"


def openapi() -> str:
    """The API's document, of every area that has an API."""
    return text_of(document(_app(area) for area in _areas()))


def _areas() -> list[str]:
    return sorted(path.parent.name for path in FUNCTIONS.glob("*/api.py"))


def _app(area: str) -> APIGatewayRestResolver:
    app: APIGatewayRestResolver = importlib.import_module(f"{area}.api").app
    return app


if __name__ == "__main__":
    JOBS.write_text(rendered(JOBS.read_text()))
    OPENAPI.write_text(openapi())
    ACCESS.write_text(access())
    CONFIGURATION.write_text(configuration(CONFIGURATION.read_text()))
    runpy.run_path(str(CLIENT), run_name="__main__")
