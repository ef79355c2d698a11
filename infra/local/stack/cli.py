"""The command line: a table of commands; each is in a module that is imported when it runs."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, Protocol, cast

from stack.errors import StackError
from stack.instance import DEFAULT_NAME
from stack.workspace import LOCAL_VARIABLE, Workspace

INTERRUPTED: Final = 130
READER_LEFT: Final = 141
"""Shells report the signal of a broken pipe so."""


@dataclass(frozen=True)
class Command:
    name: str
    module: str
    help: str


COMMANDS: Final = (
    Command("up", "stack.up", "install what is missing, start the parts, wait until they work"),
    Command("down", "stack.down", "stop the instance"),
    Command("status", "stack.status", "show the parts and whether they work"),
    Command("doctor", "stack.doctor", "examine the deployed stage: faults and their remedies"),
    Command("alarms", "stack.alarms", "drive alarms into ALARM and back"),
    Command("logs", "stack.logs", "show the log of a part, or of all"),
    Command("clean", "stack.clean", "stop the instance and remove its data"),
    Command("run", "stack.run_with", "run a command with an instance of its own, and remove it"),
    Command("install", "stack.install", "only install the tools"),
    Command("deploy", "stack.deploy", "build the application and deploy it to the instance"),
    Command("set", "stack.set_setting", "change settings of the stage"),
    Command("settings", "stack.show_settings", "list the settings of the stage"),
    Command("invoke", "stack.invoke", "call a deployed function with an event"),
    Command("sam-local", "stack.sam_local", "run a function in a container, by sam local invoke"),
    Command("rebuild-index", "stack.rebuild_index", "rebuild the chunk index"),
    Command("key", "stack.key", "issue an API key for a tenant"),
    Command("user", "stack.user", "invite an administrator of a tenant"),
    Command("tenant", "stack.tenant", "create, suspend, resume, export or delete a tenant"),
    Command("console", "stack.console", "serve the console's current files"),
    Command("demo", "stack.demo", "crawl a small website, or a page, and search it"),
    Command(
        "demo-publish", "stack.demo_publish", "publish ten products on marketplaces of its own"
    ),
    Command("validate", "stack.validate", "check the templates"),
    Command("pin", "stack.pin", "update the digests of the Java artifacts"),
)


class CommandModule(Protocol):
    """Interface of a command's module."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own arguments."""

    def run(self, arguments: argparse.Namespace, workspace: Workspace) -> int:
        """Run the command and return the exit code."""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="stack", description="The local stack of Spinneret.")
    subparsers = parser.add_subparsers(dest="command", metavar="command", required=True)
    named = next((word for word in words if not word.startswith("-")), None)
    module: CommandModule | None = None
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        if command.name == named:
            module = cast(CommandModule, importlib.import_module(command.module))
            _configure(subparser, module)
    arguments = parser.parse_args(words)
    assert module is not None  # argparse has rejected any other command
    return _run(module, arguments)


def _configure(parser: argparse.ArgumentParser, module: CommandModule) -> None:
    parser.add_argument(
        "--instance",
        default=DEFAULT_NAME,
        metavar="NAME",
        help=f"which instance (default: {DEFAULT_NAME}); each has ports and data of its own",
    )
    parser.epilog = f"{LOCAL_VARIABLE} names the folder of tools and instances (default: .local)."
    module.configure(parser)


def _run(module: CommandModule, arguments: argparse.Namespace) -> int:
    # A command that is terminated must still end what it started.
    signal.signal(signal.SIGTERM, _interrupt)
    workspace = Workspace.from_environment(os.environ)
    try:
        return module.run(arguments, workspace)
    except StackError as error:
        workspace.progress.warn(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        workspace.progress.warn("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the last flush
        return READER_LEFT


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
