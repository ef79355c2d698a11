"""Record of the application deployed to an instance."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stack.errors import StackError
from stack.files import write_json
from stack.instance import Instance

STACK_NAME = "spinneret"
STAGE = "local"
WEBSOCKET_STAGE = "ws"  # path of the public address


@dataclass(frozen=True)
class Deployment:
    """A deployment; `boot` is the start of LocalStack that holds it, since it survives no other."""

    boot: str
    shape: str
    functions: str
    common: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    """Logical id → physical id of the root stack's resources."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Values of the template's parameters; a missing one has its default."""

    def api_url(self, gateway: str) -> str:
        """Return the base URL of the API on this machine."""
        return f"{gateway}/_aws/execute-api/{self.outputs['ApiId']}/{STAGE}"


def read(instance: Instance) -> Deployment | None:
    """Return the last deployment, or None."""
    try:
        return Deployment(**json.loads(_file(instance).read_text()))
    except FileNotFoundError:
        return None


def current(instance: Instance) -> Deployment:
    """Return the deployment of the running instance. Raises StackError if there is none."""
    deployment = read(instance)
    if deployment is None or deployment.boot != endpoints(instance)["localstack_boot"]:
        raise StackError(f"nothing is deployed to instance {instance.name}: run `make deploy`")
    return deployment


def write(instance: Instance, deployment: Deployment) -> None:
    """Store the deployment in the instance's folder."""
    write_json(_file(instance), asdict(deployment))


def forget(instance: Instance) -> None:
    """Delete the record, before a change that may fail halfway."""
    _file(instance).unlink(missing_ok=True)


def endpoints(instance: Instance) -> dict[str, Any]:
    """Return the addresses of the instance's parts. Raises StackError if it isn't running."""
    try:
        value: dict[str, Any] = json.loads(instance.endpoints_file.read_text())
    except FileNotFoundError:
        raise StackError(f"instance {instance.name} isn't running: run `make up`") from None
    return value


def _file(instance: Instance) -> Any:
    return instance.folder / "deployment.json"
