"""`set`: change settings of the stage, in seconds if only variables of functions hold them."""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from stack import aws, deploy
from stack.deployment import record, settings
from stack.deployment.sources import Sources
from stack.errors import StackError, UsageError
from stack.instance import Instance, instance_lock
from stack.tools.chromium import installed_folder
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the settings to change."""
    parser.add_argument(
        "setting",
        nargs="*",
        help="NAME=value, or NAME for a value in the environment; an empty value means the default",
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Check all given settings, then apply and store them."""
    instance = Instance.named(arguments.instance, workspace)
    known = settings.known(Sources(workspace.root).template)
    if not arguments.setting:
        raise UsageError("name a setting: make set NAME=value (`make settings` lists all)")
    given = settings.assignments(arguments.setting, workspace.environ, known)
    with instance_lock(instance, workspace):
        chosen = settings.merge(settings.kept(instance), given)
        settings.check(chosen, known)
        _apply(instance, workspace, chosen, [known[name] for name in given])
    return 0


def _apply(
    instance: Instance,
    workspace: Workspace,
    chosen: Mapping[str, str],
    given: Sequence[settings.Setting],
) -> None:
    begin = time.monotonic()
    say = workspace.progress.say
    try:
        present = record.current(instance)
    except StackError:
        settings.keep(instance, chosen)
        say("stored; nothing is deployed, so the next deployment applies it")
        return
    endpoints = record.endpoints(instance)
    slow = [each.name for each in given if each.needs_deployment]
    if slow:
        say(f"{', '.join(slow)} changes resources, so this needs a deployment")
        deploy.deploy_to(instance, workspace, chosen)
        return
    wanted = deploy.parameters_of(chosen, endpoints, installed_folder(workspace))
    client = aws.client("lambda", endpoints["gateway"])
    named = deploy.apply_parameters(client, Sources(workspace.root).template, present, wanted)
    record.write(instance, replace(present, parameters=wanted))
    settings.keep(instance, chosen)
    for name in named:
        say(f"{name} = {wanted.get(name) or '(the default)'}")
    say(f"{'applied' if named else 'already in force'} ({time.monotonic() - begin:.1f} s)")
