"""`settings`: list the settings of the stage with values, defaults and meanings."""

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from typing import Final

from stack.deployment import record, settings
from stack.deployment.settings import Setting
from stack.deployment.sources import Sources
from stack.errors import StackError
from stack.instance import Instance
from stack.workspace import Workspace

_WIDTH: Final = 100
_INDENT: Final = "    "


def configure(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""
    del parser


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the values in force; without a deployment, the values for the next one."""
    instance = Instance.named(arguments.instance, workspace)
    chosen = settings.kept(instance)
    say = workspace.progress.say
    try:
        in_force: Mapping[str, str] = {**chosen, **record.current(instance).parameters}
    except StackError:
        say("nothing is deployed; these values are for the next deployment")
        in_force = {**chosen, **settings.parameters(chosen)}
    lines = [
        line
        for setting in settings.known(Sources(workspace.root).template).values()
        for line in described(setting, in_force.get(setting.name) or setting.default)
    ]
    lines.append("make set NAME=value changes a setting, make set NAME= restores its default")
    say("\n".join(lines))  # at once, for a reader that stops after some lines
    return 0


def described(setting: Setting, value: str) -> Iterator[str]:
    """Yield lines that describe a setting with its value."""
    yield f"{setting.name} = {value or '(empty)'}"
    facts = [setting.meaning]
    if value != setting.default:
        facts.append(f"Default: {setting.default or '(empty)'}.")
    if setting.variable != setting.name:
        facts.append(f"Variable: {setting.variable}.")
    if setting.needs_deployment:
        facts.append("A change needs a deployment.")
    yield from textwrap.wrap(
        " ".join(filter(None, facts)), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT
    )
