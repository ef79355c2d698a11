"""Command line for tenants, over the stage's function; see `__main__`."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from spinneret.access import limits
from spinneret.aws.clients import lambda_client

Invoke = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Function that carries out one call of a command: request → answer."""

_CALL_SECONDS: Final = 70.0  # the function has 60 s, and a start takes some


class CommandFailed(Exception):
    """Raised when the function itself fails."""


def follow(
    request: Mapping[str, Any],
    invoke: Invoke,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any] | None:
    """Repeat a command until it is done; return its report, or None if it is refused.

    `say` gets a line of progress whenever it changes.
    """
    asked, shown = dict(request), None
    while True:
        answer = invoke(asked)
        if answer["text"] != shown:
            shown = answer["text"]
            say(shown)
        report: dict[str, Any] = answer["report"]
        match answer["progress"]:
            case "done":
                return report
            case "refused":
                return None
            case "waiting":
                sleep(limits.TENANT_COMMAND_WAIT_SECONDS)
        if "export_id" in report:
            asked["export_id"] = report["export_id"]


def request_of(arguments: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """Return the stage, if it is named, and the request. Raise SystemExit(2) for wrong words."""
    parser = argparse.ArgumentParser(
        prog="python -m spinneret.access.tenants",
        description="Create, suspend, resume, export or delete a tenant.",
    )
    parser.add_argument("--stage", help="the stack's parameter Stage")
    verbs = parser.add_subparsers(dest="verb", metavar="command", required=True)
    for verb, meaning in _VERBS.items():
        each = verbs.add_parser(verb, help=meaning, description=meaning)
        each.add_argument("tenant", help="lower case letters, digits and hyphens")
        if verb == "suspend":
            each.add_argument("--reason", required=True, help="shown to all that use a credential")
        if verb == "export":
            each.add_argument("--continue", dest="export_id", help="id of an interrupted export")
        if verb == "delete":
            each.add_argument("--confirm", required=True, help="the tenant's name once more")
    given = vars(parser.parse_args(arguments))
    stage = given.pop("stage")
    if given.pop("confirm", given["tenant"]) != given["tenant"]:
        parser.error("--confirm must repeat the tenant's name")
    return stage, {name: value for name, value in given.items() if value is not None}


def invoker(client: Any, function: str) -> Invoke:
    """Return the call of a function. It raises CommandFailed."""

    def invoke(request: Mapping[str, Any]) -> dict[str, Any]:
        answer = client.invoke(FunctionName=function, Payload=json.dumps(request).encode())
        found: dict[str, Any] = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            raise CommandFailed(found.get("errorMessage"))
        return found

    return invoke


def run(request: Mapping[str, Any], invoke: Invoke) -> int:
    """Carry out a command, print its report, and return the exit code."""
    try:
        report = follow(request, invoke, _say)
    except (CommandFailed, BotoCoreError, ClientError) as error:
        sys.stderr.write(f"interrupted, repeat the command: {error}\n")
        return 1
    if report is None:
        return 1
    if report:
        sys.stdout.write(f"{json.dumps(report)}\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code. Raise SystemExit(2) for wrong arguments."""
    stage, request = request_of(arguments)
    if stage is None:
        sys.stderr.write("--stage is required\n")
        return 2
    client = lambda_client(_CALL_SECONDS)
    return run(request, invoker(client, f"spinneret-tenants-{stage}"))


_VERBS: Final = {
    "create": "create a tenant, which has no credentials yet",
    "suspend": "refuse all credentials with a reason, and let work wait",
    "resume": "end a suspension",
    "export": "write documents, products, targets, audits and jobs to S3 as lines of JSON",
    "delete": "delete the tenant with all its data, for good",
}
