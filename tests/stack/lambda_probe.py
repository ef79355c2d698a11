"""Functions, layers and queues that tests create on the running stack and remove afterwards."""

import base64
import functools
import io
import json
import re
import time
import uuid
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROBES = Path(__file__).with_name("probes")
ROLE = "arn:aws:iam::000000000000:role/probe"
DEADLINE_SECONDS = 20.0


@dataclass(frozen=True)
class Answer:
    """Response to an invocation. `error` is the FunctionError header, `log` the last 4 KB."""

    payload: Any
    error: str | None
    log: str

    @property
    def request_id(self) -> str:
        match = re.search(r"^START RequestId: (\S+)", self.log, re.MULTILINE)
        assert match, self.log
        return match[1]

    def log_number(self, name: str) -> float:
        """Return a number of the REPORT line."""
        match = re.search(rf"^REPORT .*\t{name}: ([0-9.]+)", self.log, re.MULTILINE)
        assert match, self.log
        return float(match[1])


class Laboratory:
    """Factory of functions, layers, queues and mappings, which `close` removes.

    Their names are unique, so several test runs may share a stack.
    """

    def __init__(self, aws: Callable[[str], Any]) -> None:
        self.aws: Callable[[str], Any] = functools.cache(aws)
        self._functions = self.aws("lambda")
        self._cleanup = ExitStack()

    def close(self) -> None:
        self._cleanup.close()

    def function(
        self,
        handler: str,
        *,
        timeout: int = 15,
        layers: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> str:
        """Create a function, wait until it is active, and return its name.

        Its code is the probes and `files`.
        """
        name = _unique("probe")
        self._functions.create_function(
            FunctionName=name,
            Runtime="python3.12",
            Role=ROLE,
            Handler=handler,
            Code={"ZipFile": _zip(_probe_files() | dict(files or {}))},
            Timeout=timeout,
            Layers=list(layers),
            Environment={"Variables": dict(variables or {})},
        )
        self._cleanup.callback(self._functions.delete_function, FunctionName=name)
        wait_for(lambda: self._state(name) == "Active", f"function {name} is active")
        return name

    def layer(self, files: Mapping[str, str]) -> str:
        """Create a layer, and return the ARN of its version."""
        name = _unique("layer")
        version = self._functions.publish_layer_version(
            LayerName=name, Content={"ZipFile": _zip(files)}, CompatibleRuntimes=["python3.12"]
        )
        self._cleanup.callback(
            self._functions.delete_layer_version, LayerName=name, VersionNumber=1
        )
        return str(version["LayerVersionArn"])

    def invoke(self, function: str, event: Mapping[str, Any] | None = None) -> Answer:
        answer = self._functions.invoke(
            FunctionName=function, Payload=json.dumps(event or {}), LogType="Tail"
        )
        log = base64.b64decode(answer["LogResult"]).decode("utf-8", "replace")
        return Answer(json.loads(answer["Payload"].read()), answer.get("FunctionError"), log)

    def queue(self) -> str:
        """Create a queue, and return its URL."""
        sqs = self.aws("sqs")
        url = sqs.create_queue(QueueName=_unique("probe"))["QueueUrl"]
        self._cleanup.callback(sqs.delete_queue, QueueUrl=url)
        return str(url)

    def map_queue(self, queue: str, function: str, **settings: Any) -> str:
        """Map a queue to a function, wait until the mapping is enabled, and return its UUID."""
        arn = self.aws("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        mapping = self._functions.create_event_source_mapping(
            FunctionName=function, EventSourceArn=arn["Attributes"]["QueueArn"], **settings
        )
        uuid_ = str(mapping["UUID"])
        self._cleanup.callback(self._delete_mapping, uuid_)
        wait_for(lambda: self.mapping_state(uuid_) == "Enabled", "the mapping is enabled")
        return uuid_

    def mapping_state(self, mapping: str) -> str:
        """Return the state of a mapping; "Deleted" if it doesn't exist."""
        try:
            return str(self._functions.get_event_source_mapping(UUID=mapping)["State"])
        except self._functions.exceptions.ResourceNotFoundException:
            return "Deleted"

    def logged(self, function: str, pattern: str, count: int = 1) -> list[re.Match[str]]:
        """Wait until the function's log group has `count` matches, and return all matches."""
        logs = self.aws("logs")

        def found() -> list[re.Match[str]] | None:
            try:
                events = logs.filter_log_events(logGroupName=f"/aws/lambda/{function}")["events"]
            except logs.exceptions.ResourceNotFoundException:
                return None
            matches = [m for event in events if (m := re.search(pattern, event["message"]))]
            return matches if len(matches) >= count else None

        return wait_for(found, f"{count} log lines like {pattern!r}")

    def _state(self, function: str) -> str:
        answer = self._functions.get_function_configuration(FunctionName=function)
        assert answer["State"] != "Failed", answer["StateReason"]
        return str(answer["State"])

    def _delete_mapping(self, mapping: str) -> None:
        if self.mapping_state(mapping) not in ("Deleting", "Deleted"):
            self._functions.delete_event_source_mapping(UUID=mapping)


def wait_for[T](
    condition: Callable[[], T | None], what: str, seconds: float = DEADLINE_SECONDS
) -> T:
    """Wait for the condition's first true value, and return it. Fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)
    return value


def _unique(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex[:12]}"


def _probe_files() -> dict[str, str]:
    return {path.name: path.read_text() for path in PROBES.glob("*.py")}


def _zip(files: Mapping[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)  # a fixed date: same files, same hash
    return content.getvalue()
