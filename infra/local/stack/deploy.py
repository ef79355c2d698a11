"""`deploy`: build the application and deploy it to the instance, by the shortest safe way.

Changed code alone is uploaded directly to the functions and the common layer, and changed settings
of functions become variables of these. When a template, a dependency or a parameter of resources
changed, the stack is recreated, because the emulator reports updates that it hasn't made.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from spinneret.web.browser.wiring import NONE
from stack import aws
from stack.deployment import (
    cloudformation,
    direct,
    durable,
    record,
    settings,
    template_parameters,
)
from stack.deployment.index import remove_indices
from stack.deployment.record import STACK_NAME, STAGE, WEBSOCKET_STAGE, Deployment
from stack.deployment.sam import Sam
from stack.deployment.sources import Sources
from stack.deployment.verify import verify
from stack.deployment.warm import warm
from stack.errors import UsageError
from stack.expiry import remove_expired
from stack.instance import DEFAULT_NAME, Instance, instance_lock
from stack.parts.catalogue import all_parts
from stack.tools.chromium import chromium_tool, installed_folder
from stack.tools.store import Store
from stack.up import bring_up
from stack.workspace import Workspace

BUCKET: Final = "spinneret-artifacts"
FORCE_VARIABLE: Final = "FORCE"
# `make up BROWSER=1`: the browser stays in the tool store, and later deployments use it too.
BROWSER_VARIABLE: Final = "BROWSER"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add settings to change; variables of the environment may name others."""
    parser.add_argument("setting", nargs="*", help="as of `set`")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Start the parts that aren't running, then deploy."""
    instance = Instance.named(arguments.instance, workspace)
    ensure(instance, workspace, arguments.setting)
    return 0


def ensure(instance: Instance, workspace: Workspace, words: Sequence[str] = ()) -> Deployment:
    """Start the instance if needed, and deploy the current application to it.

    `words` are settings of the command line.
    """
    known = settings.known(Sources(workspace.root).template)
    with instance_lock(instance, workspace):
        chosen = settings.wanted(instance, workspace.environ, known, words)
        settings.check(chosen, known)
        former = instance.read()
        running = former is not None and bool(former.alive())
        if workspace.environ.get(BROWSER_VARIABLE) == "1":
            Store(workspace).ensure(chromium_tool(workspace))
        # Only the usual instance has the usual ports.
        is_new = former is None and instance.name != DEFAULT_NAME
        bring_up(instance, all_parts(workspace), workspace, free_ports=running or is_new)
        _expire(instance, workspace)
        return deploy_to(instance, workspace, chosen)


def deploy_to(instance: Instance, workspace: Workspace, chosen: Mapping[str, str]) -> Deployment:
    """Deploy the application to a running instance, with settings.

    Raises UsageError if data would be lost, or for an invalid setting.
    """
    begin = time.monotonic()
    endpoints = record.endpoints(instance)
    sources = Sources(workspace.root)
    settings.check(chosen, settings.known(sources.template))
    parameters = parameters_of(chosen, endpoints, installed_folder(workspace))
    wanted = Deployment(
        boot=endpoints["localstack_boot"],
        shape=sources.shape(parameters),
        functions=direct.sha256_of(sources.function_archive),
        common=direct.sha256_of(sources.common_archive),
        outputs={},
        resources={},
        parameters=parameters,
    )
    present = record.read(instance)
    say = workspace.progress.say
    if present is not None and (present.boot, present.shape) == (wanted.boot, wanted.shape):
        deployment, what = _update(instance, present, wanted, sources, endpoints["gateway"])
    else:
        _settle_losses(instance, workspace, endpoints["gateway"])
        sam = Sam(workspace, instance, endpoints, settings.embedder(chosen))
        deployment = _create(instance, workspace, wanted, parameters, endpoints, sam)
        with workspace.progress.step("warming the API", "warm"):
            warm(sources.template, deployment.api_url(endpoints["gateway"]))
        what = "deployed"
    settings.keep(instance, chosen)
    say(f"{what} ({time.monotonic() - begin:.1f} s)")
    say(f"  api         {deployment.api_url(endpoints['gateway'])}")
    say(f"  fetching may reach public addresses and {parameters[settings.FETCH_PARAMETER]}")
    return deployment


def _expire(instance: Instance, workspace: Workspace) -> None:
    rules = durable.lifecycle_rules(instance, workspace.root)
    if not rules:
        return
    s3 = aws.client("s3", record.endpoints(instance)["gateway"])
    try:
        if removed := remove_expired(s3, rules, datetime.now(UTC)):
            workspace.progress.say(f"{removed} objects expired and were removed")
    except (BotoCoreError, ClientError) as error:  # no reason not to deploy: the next time removes
        workspace.progress.warn(f"expired objects weren't removed: {error}")


def parameters_of(
    chosen: Mapping[str, str], endpoints: Mapping[str, str], browser: str = NONE
) -> dict[str, str]:
    """Return the template's parameters; `browser` is the folder of the installed one."""
    served = settings.embedder(chosen) == settings.SERVER
    return {
        "Stage": STAGE,
        "OpenSearchUrl": endpoints["opensearch"],
        "EmbedderUrl": endpoints["embedder"] if served else "",
        "BrowserFolder": browser,
        "WebSocketUrl": f"{endpoints['websocket']}/{WEBSOCKET_STAGE}",
        **settings.parameters(chosen, endpoints["website"], endpoints["markets"]),
    }


def _settle_losses(instance: Instance, workspace: Workspace, gateway: str) -> None:
    """Delete data that the new stack can't take over. Raises UsageError unless the user agrees."""
    for name in durable.kept_values(instance, workspace.root):
        workspace.progress.say(f"secret {name} keeps its value: its template's applies at creation")
    lost = durable.losses(instance, workspace.root)
    if not lost:
        return
    names = ", ".join(map(str, lost))
    if workspace.environ.get(FORCE_VARIABLE) != "1" and not _agrees(names):
        raise UsageError(f"this deployment would delete {names}: FORCE=1 make deploy")
    durable.give_up(instance, gateway, lost)
    workspace.progress.say(f"deleted {names}")


def _agrees(names: str) -> bool:
    """Ask on a terminal; elsewhere nobody agrees."""
    if not sys.stdin.isatty():
        return False
    return input(f"this deployment deletes {names}; type yes to go on: ").strip() == "yes"


def _create(
    instance: Instance,
    workspace: Workspace,
    wanted: Deployment,
    parameters: Mapping[str, str],
    endpoints: Mapping[str, Any],
    sam: Sam,
) -> Deployment:
    progress = workspace.progress
    client = aws.client("cloudformation", endpoints["gateway"])
    record.forget(instance)
    with ThreadPoolExecutor(1) as beside:  # each uses one processor
        validation = beside.submit(sam.validate)
        with progress.step("building functions and layers", "built"):
            sam.build()
        validation.result()
    if cloudformation.delete(client, STACK_NAME):
        progress.say("removed the former stack; its data stay")
    elif not instance.is_durable:
        # LocalStack may have ended alone; without rows, chunks only fill the candidates.
        remove_indices(endpoints["opensearch"])
    s3 = aws.client("s3", endpoints["gateway"])
    s3.create_bucket(Bucket=BUCKET)
    with progress.step("creating the stack", "created"):
        sam.deploy(BUCKET, parameters)
    deployment = replace(
        wanted,
        outputs=cloudformation.outputs(client, STACK_NAME),
        resources=cloudformation.resources(client, STACK_NAME),
    )
    with progress.step("reading the deployment back", "verified"):
        verify(endpoints["gateway"], sam.built / "template.yaml", deployment)
    record.write(instance, deployment)
    return deployment


def _update(
    instance: Instance, present: Deployment, wanted: Deployment, sources: Sources, gateway: str
) -> tuple[Deployment, str]:
    client = aws.client("lambda", gateway)
    functions = direct.functions_of(client, present.resources.values())
    changed = []
    deployment = present
    if present.functions != wanted.functions:
        direct.update_code(client, functions, sources.function_archive)
        deployment = replace(deployment, functions=wanted.functions)
        changed.append("functions")
    if present.common != wanted.common:
        [layer] = [arn for name, arn in present.resources.items() if name.startswith("CommonLayer")]
        new = direct.update_layer(client, functions, layer, sources.common_archive)
        renamed = {name: new if arn == layer else arn for name, arn in present.resources.items()}
        deployment = replace(deployment, common=wanted.common, resources=renamed)
        changed.append("common layer")
    named = apply_parameters(client, sources.template, deployment, wanted.parameters)
    if named:
        deployment = replace(deployment, parameters=wanted.parameters)
        changed.append(", ".join(named))
    record.write(instance, deployment)
    return deployment, f"updated {' and '.join(changed)}" if changed else "already deployed"


def apply_parameters(
    client: Any, template: Path, deployment: Deployment, wanted: Mapping[str, str]
) -> list[str]:
    """Give changed parameters to the functions that hold them in variables; return their names."""
    known = template_parameters.read(template)
    changes: dict[str, dict[str, str]] = defaultdict(dict)
    named = []
    for name, each in known.items():
        value = wanted.get(name, each.default)
        if each.changes_resources or value == deployment.parameters.get(name, each.default):
            continue
        named.append(name)
        for function, variables in each.variables.items():
            changes[deployment.resources[function]] |= dict.fromkeys(variables, value)
    if changes:
        direct.update_variables(client, direct.functions_of(client, changes), changes)
    return named
