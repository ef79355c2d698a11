"""`rebuild-index`: begin a rebuild of the chunk index, or attach to one, and follow its job."""

import argparse
import json
import time
from typing import Any, Final

from stack import aws
from stack.deployment import record
from stack.errors import StackError, UsageError
from stack.instance import Instance
from stack.workspace import Workspace

_FUNCTION: Final = "RebuildIndex"
_ENDED: Final = {"completed", "failed", "cancelled", "expired"}
_POLL_SECONDS: Final = 1.0


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments except the instance."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Wait until searches use the new index; return 1 if the job fails or documents are lost.

    The job doesn't need this command: started again, it attaches to the unfinished job.
    """
    instance = Instance.named(arguments.instance, workspace)
    deployment = record.current(instance)
    name = deployment.resources.get(_FUNCTION)
    if name is None:
        raise UsageError(f"the deployment has no function {_FUNCTION}")
    client = aws.client("lambda", record.endpoints(instance)["gateway"])
    progress = workspace.progress
    begin = time.monotonic()
    job = _asked(client, name, {})
    progress.say(f"rebuild {job['job_id']}")
    shown = None
    while job["status"] not in _ENDED:
        # The step ends with the key of a row, which only the job itself needs.
        line = (job["step"] or job["status"]).partition(", up to ")[0]
        if line != shown:
            progress.say(line)
            shown = line
        time.sleep(_POLL_SECONDS)
        job = _asked(client, name, {"job_id": job["job_id"]})
    if job["status"] != "completed":
        progress.warn(f"{job['status']}: {job['error']}")
        return 1
    result = job["result"]
    seconds = time.monotonic() - begin
    progress.say(f"{result['index']}: {result['documents']} documents in {seconds:.0f} s")
    if result["lost"]:
        progress.warn(f"lost: {result['lost']}; make logs F=DocumentsWorker names them")
    return 1 if result["lost"] else 0


def _asked(client: Any, name: str, request: dict[str, str]) -> dict[str, Any]:
    answer = client.invoke(FunctionName=name, Payload=json.dumps(request).encode())
    job: dict[str, Any] = json.loads(answer["Payload"].read())
    if "FunctionError" in answer:
        raise StackError(f"{_FUNCTION}: {job.get('errorMessage')}")
    return job
