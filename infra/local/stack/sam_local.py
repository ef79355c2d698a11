"""`sam-local`: run a function by `sam local invoke`, in a container, against the instance.

The template is the built one, and the function gets its deployed variables. Loopback addresses are
replaced by addresses that a container can reach.
"""

import argparse
import json
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stack import aws
from stack.containers import Engine, reachable
from stack.deployment import record, settings, templates
from stack.deployment.built import LAYER_TYPE
from stack.deployment.record import Deployment
from stack.deployment.sam import VARIABLES, Sam
from stack.files import write_json
from stack.functions import add_call, require_call
from stack.instance import Instance
from stack.invoke import event_in
from stack.workspace import Workspace

_LOOPBACK: Final = re.compile(r"127\.0\.0\.1:(\d+)")
_UNPACKED: Final = "unpacked"  # layers, below the folder of the built template
_OWN: Final = "FETCH_ALLOWED_ENDPOINTS"
"""Variable that lists endpoints which may be fetched; its addresses aren't replaced."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the function and the event."""
    add_call(parser)


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the function's log and answer; return 1 when it raised."""
    require_call(arguments, workspace)
    instance = Instance.named(arguments.instance, workspace)
    engine = Engine()
    engine.require()
    event_in(arguments.event)
    deployment = record.current(instance)
    endpoints = record.endpoints(instance)
    variables = _variables(deployment, arguments.function, endpoints)
    sam = Sam(workspace, instance, endpoints, settings.embedder(settings.kept(instance)))
    with workspace.progress.step("building functions and layers", "built"):
        sam.build()
    ports = {int(port) for text in variables.values() for port in _LOOPBACK.findall(text)}
    begin = time.monotonic()
    with reachable(engine, ports) as translated:
        given = {
            name: text if name == _OWN else translated(text) for name, text in variables.items()
        }
        template = _template(sam, arguments.function, given)
        # Otherwise the shell's variables override the template's, including AWS_ENDPOINT_URL.
        write_json(sam.built / VARIABLES, {arguments.function: given})
        answer = sam.invoke(template, arguments.function, arguments.event, engine)
    workspace.progress.say(answer)
    workspace.progress.say(f"{time.monotonic() - begin:.1f} s")
    return int(_has_raised(answer))


def _variables(
    deployment: Deployment, function: str, endpoints: Mapping[str, str]
) -> dict[str, str]:
    """Return the function's deployed variables and its AWS endpoints."""
    name = deployment.resources[function]
    gateway = endpoints["gateway"]
    client = aws.client("lambda", gateway)
    found = client.get_function_configuration(FunctionName=name)
    variables: dict[str, str] = found.get("Environment", {}).get("Variables", {})
    return {
        **variables,
        "AWS_ENDPOINT_URL": gateway,
        "AWS_ENDPOINT_URL_DYNAMODB": endpoints["dynamodb"],
    }


def _template(sam: Sam, function: str, variables: dict[str, str]) -> Path:
    """Write the built template with the function's variables into the same folder.

    Its paths are relative. SAM passes only variables that the template names, and takes layers
    from folders only.
    """
    built = sam.built / "template.yaml"
    template: dict[str, Any] = templates.load(built)
    shutil.rmtree(sam.built / _UNPACKED, ignore_errors=True)
    for name, resource in template["Resources"].items():
        if resource["Type"] == LAYER_TYPE:
            archive = resource["Properties"]["ContentUri"]
            shutil.unpack_archive(sam.built / archive, sam.built / _UNPACKED / name)
            resource["Properties"]["ContentUri"] = f"{_UNPACKED}/{name}"
    template["Resources"][function]["Properties"]["Environment"] = {"Variables": variables}
    target = built.with_name("sam-local.json")
    write_json(target, template)
    return target


def _has_raised(answer: str) -> bool:
    """Whether the answer is an object with `errorType`, as of a function that raised."""
    try:
        body = json.loads(answer)
    except ValueError:
        return True
    return isinstance(body, dict) and "errorType" in body
