"""Compare what the functions of an instance did with what their policies allow.

    .venv/bin/python benchmarks/permissions.py [--instance dev] [--unused] FOLDER

FOLDER has the calls that the instance recorded; it must have been started with
SPINNERET_LAMBDA_CALLS. The local stack itself refuses no call for its permissions. The exit code is
1 if no policy allows a call, or if too few functions recorded calls. `--unused` also lists the
grants that no call used.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import boto3

REPOSITORY: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY / each) for each in ("", "infra/local", "layers/common")]

from stack.deployment.templates import load
from stack.instance import Instance
from stack.workspace import Workspace
from tests.architecture.conftest import ROOT, Templates
from tests.architecture.permissions.reading import permissions_of
from tests.architecture.permissions.recorded import (
    Names,
    missing,
    read,
    suffices,
    unused,
)


def main() -> int:
    """Print the comparison, and return 1 if a permission is missing, else 0.

    The result is also 1 if too few functions recorded calls.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--instance", default=os.environ.get("SPINNERET_TEST_INSTANCE", "dev"))
    parser.add_argument("--unused", action="store_true", help="list unused grants too")
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    instance = Instance.named(chosen.instance, Workspace.from_environment(os.environ))
    resources = [*_resources(_cloudformation(instance), "spinneret")]
    names = Names(
        {each["PhysicalResourceId"]: each["LogicalResourceId"] for each in resources}, "local"
    )
    templates = Templates(
        root=load(ROOT / "template.yaml"),
        nested={path.name: load(path) for path in sorted((ROOT / "infra").glob("*.yaml"))},
    )
    functions = {
        physical: logical
        for physical, logical in names.logical.items()
        if logical in templates.functions()
    }
    needed = read(chosen.folder, functions, names)
    lacking = granted = idle = 0
    for function in sorted(functions.values()):
        allowed, asked = permissions_of(function, templates), needed.get(function, set())
        lines = [f"  lacks {each}" for each in missing(asked, allowed)]
        lacking += len(lines)
        left = unused(asked, allowed)
        granted += (total := sum(map(len, allowed.values())))
        idle += (rest := sum(map(len, left.values())))
        if chosen.unused:
            lines += [
                f"  unused: {', '.join(sorted(left[each]))} on {each}" for each in sorted(left)
            ]
        if lines:
            print(f"{function}: {total - rest} of {total} permissions used", *lines, sep="\n")
    print(
        f"{len(needed)} of {len(functions)} functions recorded calls that need a permission:",
        end=" ",
    )
    print(f"{granted - idle} of {granted} granted ones were used, {lacking} are missing")
    enough = suffices(len(needed), len(functions))
    if not enough:
        print("too few functions: was the instance started with SPINNERET_LAMBDA_CALLS?")
    return int(lacking > 0 or not enough)


def _cloudformation(instance: Instance) -> Any:
    return boto3.client(
        "cloudformation",
        endpoint_url=json.loads(instance.endpoints_file.read_text())["gateway"],
        region_name="us-east-1",
        aws_access_key_id="000000000000",
        aws_secret_access_key="local",
    )


def _resources(cloudformation: Any, stack: str) -> Iterator[dict[str, Any]]:
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    for page in pages:
        for each in page["StackResourceSummaries"]:
            yield each
            if each["ResourceType"] == "AWS::CloudFormation::Stack":
                yield from _resources(cloudformation, each["PhysicalResourceId"])


if __name__ == "__main__":
    sys.exit(main())
