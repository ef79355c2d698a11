"""`invoke`: call a deployed function with an event from a file, like its trigger."""

import argparse
import base64
import json
import time
from pathlib import Path

from stack import aws
from stack.deployment import record
from stack.errors import UsageError
from stack.functions import add_call, require_call
from stack.instance import Instance
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the function and the event."""
    add_call(parser)


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the answer and the end of the log; return 1 when the function raised."""
    require_call(arguments, workspace)
    instance = Instance.named(arguments.instance, workspace)
    name = record.current(instance).resources[arguments.function]
    payload = event_in(arguments.event)
    client = aws.client("lambda", record.endpoints(instance)["gateway"])
    begin = time.monotonic()
    answer = client.invoke(FunctionName=name, Payload=payload, LogType="Tail")
    say = workspace.progress.say
    say(base64.b64decode(answer.get("LogResult", "")).decode(errors="replace").rstrip())
    say(json.dumps(json.loads(answer["Payload"].read() or b"null"), indent=2, ensure_ascii=False))
    say(f"{time.monotonic() - begin:.2f} s")
    return 1 if "FunctionError" in answer else 0


def event_in(file: Path) -> bytes:
    """Return the event in a file. Raises UsageError if it isn't readable JSON."""
    try:
        payload = file.read_bytes()
        json.loads(payload)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {error}") from error
    return payload
