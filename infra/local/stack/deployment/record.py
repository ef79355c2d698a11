"""The record of what is deployed to an instance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stack.errors import StackError
from stack.files import write_json
from stack.instance import Instance

STACK_NAME = "spinneret"
STAGE = "local"
WEBSOCKET_STAGE = "ws"  # the path of the public address


@dataclass(frozen=True)
class Deployment:
    """`boot` is the start of LocalStack that holds it: nothing outlives that."""

    boot: str
    shape: str
    functions: str
    common: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    """Logical id → physical id, of the root stack."""

    def api_url(self, gateway: str) -> str:
        """The base URL of the API on this machine."""
        return f"{gateway}/_aws/execute-api/{self.outputs['ApiId']}/{STAGE}"


def read(instance: Instance) -> Deployment | None:
    """The last deployment; None when there is none."""
    try:
        return Deployment(**json.loads(_file(instance).read_text()))
    except FileNotFoundError:
        return None


def current(instance: Instance) -> Deployment:
    """The deployment that the running instance holds; raises StackError when there is none."""
    deployment = read(instance)
    if deployment is None or deployment.boot != endpoints(instance)["localstack_boot"]:
        raise StackError(f"nothing is deployed to instance {instance.name}: run `make deploy`")
    return deployment


def write(instance: Instance, deployment: Deployment) -> None:
    """Keep it beside the instance's endpoints."""
    write_json(_file(instance), asdict(deployment))


def forget(instance: Instance) -> None:
    """Before a change that may fail half-way."""
    _file(instance).unlink(missing_ok=True)


def endpoints(instance: Instance) -> dict[str, Any]:
    """Where the instance's parts are; raises StackError when it was never started."""
    try:
        value: dict[str, Any] = json.loads(instance.endpoints_file.read_text())
    except FileNotFoundError:
        raise StackError(f"instance {instance.name} isn't running: run `make up`") from None
    return value


def _file(instance: Instance) -> Any:
    return instance.folder / "deployment.json"
