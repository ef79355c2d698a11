"""Deploy changed code and variables to existing functions without CloudFormation."""

import base64
import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from stack.errors import StackError

Functions = Mapping[str, Mapping[str, Any]]
"""Configurations of functions by name, as Lambda lists them."""
UPDATE_SECONDS: Final = 600.0
_POLL_SECONDS: Final = 0.1


def sha256_of(archive: bytes) -> str:
    """Return the hash of an archive in Lambda's format: base64 of its SHA-256."""
    return base64.b64encode(hashlib.sha256(archive).digest()).decode()


def functions_of(client: Any, known: Iterable[str]) -> Functions:
    """Return those functions that exist among the known names."""
    wanted = set(known)
    pages = client.get_paginator("list_functions").paginate()
    found = {each["FunctionName"]: each for page in pages for each in page["Functions"]}
    return {name: found[name] for name in sorted(found) if name in wanted}


def update_code(client: Any, functions: Functions, archive: bytes) -> None:
    """Update the code of all functions. Raises StackError unless each reports the new hash."""
    for name in functions:
        client.update_function_code(FunctionName=name, ZipFile=archive)
    wanted = sha256_of(archive)
    for name in functions:
        if _settled(client, name)["CodeSha256"] != wanted:
            raise StackError(f"{name} doesn't run the new code")


def update_layer(client: Any, functions: Functions, layer: str, archive: bytes) -> str:
    """Publish a new version of a layer, let all functions use it, and return its ARN.

    `layer` is the ARN of the replaced version.
    """
    unversioned, _, _ = layer.rpartition(":")
    name = unversioned.rpartition(":")[2]
    runtimes = client.get_layer_version_by_arn(Arn=layer)["CompatibleRuntimes"]
    answer = client.publish_layer_version(
        LayerName=name, Content={"ZipFile": archive}, CompatibleRuntimes=runtimes
    )
    new = str(answer["LayerVersionArn"])
    if answer["Content"]["CodeSha256"] != sha256_of(archive):
        raise StackError(f"{new} doesn't hold the new code")
    for function, present in functions.items():
        used = [each["Arn"] for each in present.get("Layers", [])]
        layers = [new if each.startswith(f"{unversioned}:") else each for each in used]
        _configure(client, function, Layers=layers)
    for function in functions:
        if new not in [each["Arn"] for each in _settled(client, function).get("Layers", [])]:
            raise StackError(f"{function} doesn't use {new}")
    return new


def update_variables(
    client: Any, functions: Functions, changes: Mapping[str, Mapping[str, str]]
) -> None:
    """Set variables of functions, by function; their next invocations have new environments.

    Raises StackError unless each function reports them.
    """
    for name, changed in changes.items():
        variables = {**_variables(functions[name]), **changed}
        _configure(client, name, Environment={"Variables": variables})
    for name, changed in changes.items():
        if not changed.items() <= _variables(_settled(client, name)).items():
            raise StackError(f"{name} doesn't have the new variables")


def _variables(configuration: Mapping[str, Any]) -> dict[str, str]:
    variables: dict[str, str] = configuration.get("Environment", {}).get("Variables", {})
    return variables


def _configure(client: Any, function: str, **changed: Any) -> None:
    """Update a configuration, after the end of an update that an interrupted command began."""
    try:
        client.update_function_configuration(FunctionName=function, **changed)
    except client.exceptions.ResourceConflictException:
        _settled(client, function)
        client.update_function_configuration(FunctionName=function, **changed)


def _settled(client: Any, function: str) -> dict[str, Any]:
    deadline = time.monotonic() + UPDATE_SECONDS
    while True:
        found: dict[str, Any] = client.get_function_configuration(FunctionName=function)
        if found["State"] == "Active" and found.get("LastUpdateStatus") in (None, "Successful"):
            return found
        if found.get("LastUpdateStatus") == "Failed" or time.monotonic() > deadline:
            raise StackError(f"{function} is {found['State']}/{found.get('LastUpdateStatus')}")
        time.sleep(_POLL_SECONDS)
