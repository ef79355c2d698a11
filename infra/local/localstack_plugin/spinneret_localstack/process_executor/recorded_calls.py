"""Record the calls that a function makes, for a comparison with its policies.

It runs in the function's process, where it changes two methods of libraries when they are imported.
Each different call is one line of JSON: service, operation, and what the operation names.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec
from typing import Any

# Parameters that name a resource, or of which the presence decides about the permission.
_NAMES = {
    *("TableName", "IndexName", "QueueUrl", "Bucket", "KeyId", "SecretId", "FunctionName"),
    *("stateMachineArn", "EventBusName"),
}
_PRESENT = {"VersionId", "Tags", "ConnectionId"}


class _Calls:
    """File of a function's calls; processes of one function share it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def add(self, service: str, operation: str, named: Mapping[str, Any]) -> None:
        line = json.dumps([service, operation, named], sort_keys=True) + "\n"
        with self._lock:
            if line in self._known:
                return
            self._known.add(line)
            with open(self._path, "a") as file:  # noqa: PTH123  # pathlib isn't imported here yet
                file.write(line)


def install(folder: str) -> None:
    """Record the calls of this process into a file of its function's name."""
    calls = _Calls(os.path.join(folder, f"{os.environ['AWS_LAMBDA_FUNCTION_NAME']}.jsonl"))  # noqa: PTH118  # as above
    watched = {"botocore.client": _watch_aws, "opensearchpy.transport": _watch_opensearch}
    later: dict[str, _Watched] = {}
    for name, watch in watched.items():
        if name in sys.modules:  # of a zygote
            watch(sys.modules[name], calls)
        else:
            later[name] = watch, calls
    sys.meta_path.insert(0, _AfterImport(later))


def named_by(operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the operation names, without values of the data."""
    named: dict[str, Any] = {name: params[name] for name in _NAMES & params.keys()}
    named |= dict.fromkeys(_PRESENT & params.keys(), True)
    if isinstance(key := params.get("Key"), str):  # of an object
        named["Key"] = _folder([key])
    if operation.startswith("Batch") and "RequestItems" in params:
        named["tables"] = sorted(params["RequestItems"])
    if operation == "TransactWriteItems":
        parts = [next(iter(each.items())) for each in params["TransactItems"]]
        named["parts"] = sorted({f"{kind} {part['TableName']}" for kind, part in parts})
    if operation == "PutEvents":
        named["buses"] = sorted({each.get("EventBusName", "default") for each in params["Entries"]})
    if operation == "DeleteObjects":
        objects = params["Delete"]["Objects"]
        versions = ["VersionId" in each for each in objects]
        named |= {"VersionId": any(versions), "Newest": not all(versions)}
        named["Key"] = _folder([each["Key"] for each in objects])
    return named


def _folder(keys: list[str]) -> str:
    """Return what all keys have before the first slash, if that is a word."""
    first, *others = {key.partition("/")[0] for key in keys}
    return f"{first if first.isalpha() and not others else '*'}/*"


def _watch_aws(module: Any, calls: _Calls) -> None:
    client = module.BaseClient
    call = client._make_api_call  # noqa: SLF001  # calls of all clients pass it

    def make_api_call(self: Any, operation_name: str, api_params: Mapping[str, Any]) -> Any:
        service = self.meta.service_model.service_name
        calls.add(service, operation_name, named_by(operation_name, api_params))
        return call(self, operation_name, api_params)

    client._make_api_call = make_api_call  # noqa: SLF001  # as above


def _watch_opensearch(module: Any, calls: _Calls) -> None:
    transport = module.Transport
    call = transport.perform_request

    def perform_request(self: Any, method: str, url: str, *given: Any, **named: Any) -> Any:
        calls.add("opensearch", method, {"path": url.partition("?")[0]})
        return call(self, method, url, *given, **named)

    transport.perform_request = perform_request


_Watched = tuple[Callable[[Any, _Calls], None], _Calls]


class _AfterImport(MetaPathFinder):
    """Changes modules right after their import."""

    def __init__(self, watched: dict[str, _Watched]) -> None:
        self._watched = watched

    def find_spec(self, name: str, *_: Any) -> Any:
        found = self._watched.pop(name, None)
        if found is None:
            return None
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, *found)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader, watch: Callable[[Any, _Calls], None], calls: _Calls) -> None:
        self._loader = loader
        self._watch = watch
        self._calls = calls

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        self._watch(module, self._calls)
