"""Entry point of the command: options of all verbs, error messages and exit codes."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from spinneret_client import errors
from spinneret_client.cli import (
    accounts,
    audits,
    crawls,
    exits,
    jobs,
    keys,
    marketplaces,
    media,
    monitors,
    products,
    publishing,
    schedules,
    searches,
    servers,
    sources,
    status_pages,
    users,
    webhooks,
)
from spinneret_client.cli.output import Output, drop_the_rest
from spinneret_client.cli.tools import Tools

FLAGS: Final = frozenset({"--json", "--jsonl", "--quiet", "-q"})
VALUES: Final = frozenset({"--profile", "--url"})
EXAMPLE: Final = "Example: spinneret crawl https://example.com/ --wait"

_REFUSED: Final[Any] = typer.BadParameter.__mro__[2]
"""`ClickException`, the base of usage errors, from click or from the copy inside typer."""

app = typer.Typer(
    name="spinneret",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=f"Crawl, search, audit, monitor and publish.\n\n{exits.HELP}",
    epilog=EXAMPLE,
)
for module in (
    crawls,
    searches,
    sources,
    jobs,
    monitors,
    status_pages,
    audits,
    schedules,
    media,
    publishing,
    products,
    marketplaces,
    webhooks,
):
    module.add_to(app)
for module in (accounts, keys, users, servers):
    module.add_to(app)


@app.callback()
def options(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Print events and results as lines of JSON.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no progress and no notes.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="Use this profile of config.toml.")] = None,
    url: Annotated[str | None, typer.Option(help="Address of the API.")] = None,
) -> None:
    """Take the options that may come before or after a verb."""
    if json and jsonl:
        raise typer.BadParameter("--json and --jsonl exclude each other")
    form = "json" if json else "jsonl" if jsonl else "text"
    context.obj.output = Output(form=form, quiet=quiet)
    context.obj.profile, context.obj.url = profile, url


def run() -> None:
    """Run the command with the process's arguments, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # its encoding may have few characters
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; print errors as messages."""
    streams = (sys.stdout, sys.stderr)
    code = exits.DONE
    try:
        code = _run(Tools(Output()), arguments)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:  # typer turns a broken pipe into an exit
        if not any(isinstance(each, BrokenPipeError) for each in (error, error.__context__)):
            raise
        for stream in streams:
            drop_the_rest(stream)
        # The reader closed the pipe; further output is impossible.
    return code


def _run(tools: Tools, arguments: Sequence[str]) -> int:
    try:
        result = _command()(gathered(arguments), standalone_mode=False, obj=tools)
    except errors.SpinneretError as error:
        tools.output.problem(explained(error))
        return code_of(error)
    except (KeyboardInterrupt, typer.Abort):
        result = exits.INTERRUPTED  # typer may have returned it already
    except BrokenPipeError:
        raise
    except OSError as error:
        tools.output.problem(f"{error.filename or 'input'}: {error.strerror or error}")
        return exits.FAULT
    except _REFUSED as error:
        message = error.format_message().replace("Value error, ", "")  # the prefix of pydantic
        if message.startswith("Usage:"):  # the help of a group without a verb
            tools.output.note(message)
        else:
            tools.output.problem(f"{message} See `spinneret --help`.")
        return exits.FAULT
    if result == exits.INTERRUPTED:
        tools.output.note(interruption(tools.following))
    return result if isinstance(result, int) else exits.DONE


@functools.cache
def _command() -> Any:
    return typer.main.get_command(app)


def gathered(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the common options first, where the parser expects them."""
    first: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            rest += [word, *waiting]
            break
        if word in FLAGS or (word.partition("=")[0] in VALUES and "=" in word):
            first.append(word)
        elif word in VALUES and waiting:
            first += [word, waiting.pop(0)]
        else:
            rest.append(word)
    return first + rest


def code_of(error: errors.SpinneretError) -> int:
    """Return the exit code of an error."""
    if isinstance(error, (errors.AuthRequired, errors.NotConfigured)):
        return exits.SIGN_IN
    return exits.UNFINISHED if isinstance(error, errors.WaitTimeout) else exits.FAULT


def explained(error: errors.SpinneretError) -> str:
    """Return the message of an error, with the next step for the user."""
    text = str(error)
    if isinstance(error, errors.ApiError):
        faults = [
            f"{field}: {fault}" if fault else field
            for field, fault in error.fields
            if not fault or fault not in text  # the message may contain it already
        ]
        if faults and text.startswith("invalid: "):  # the message has only the names of the fields
            text = f"invalid: {faults.pop(0)}"
        text += "".join(f"; {each}" for each in faults)
        text += "".join(f"\n  {hint}" for hint in error.hints)
    if isinstance(error, errors.AuthRequired):
        text += ". Sign in with `spinneret login`"
    elif isinstance(error, errors.Forbidden) and error.code == "FORBIDDEN":
        text += ". Use a key with this permission"
    elif (
        isinstance(error, (errors.RateLimited, errors.Unavailable))
        and error.retry_after is not None
    ):
        text += f". Try again in {error.retry_after:.0f} s"
    elif isinstance(error, errors.WaitTimeout):
        text += f". Look again: `spinneret jobs watch {error.job_id}`"
    if isinstance(error, errors.ServerError) and error.request_id:
        text += f" (request {error.request_id})"
    return text


def interruption(following: tuple[str, str] | None) -> str:
    """Return the message after an interruption, with the next steps for the user."""
    if following is None:
        return "interrupted"
    group, job_id = following
    lines = [
        f"interrupted; {job_id} continues on the server.",
        f"  look again: spinneret {group} watch {job_id}",
    ]
    if group == "jobs":
        lines.append(f"  cancel it:  spinneret jobs cancel {job_id}")
    return "\n".join(lines)
