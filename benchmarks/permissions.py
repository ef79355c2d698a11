"""Compare what the functions did in the end-to-end tests with what their policies allow.

    SPINNERET_LAMBDA_CALLS=… SPINNERET_TEST_INSTANCE=… python -m tests.e2e.recorded_permissions

The last step of `make test-end-to-end`: a call that no policy allows, which the local stack doesn't
refuse, ends it with exit code 1. Grants that no test used are listed.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stack.deployment.templates import load
from tests.architecture.conftest import ROOT, Templates
from tests.architecture.permissions.reading import permissions_of
from tests.architecture.permissions.recorded import Names, missing, read, unused
from tests.conftest import Aws
from tests.conftest import _read as running


def main() -> int:
    """Print the comparison; return 1 if a permission is missing."""
    folder = Path(os.environ["SPINNERET_LAMBDA_CALLS"])
    stack = running(os.environ["SPINNERET_TEST_INSTANCE"])
    cloudformation = Aws(stack.gateway_url, stack.dynamodb_url)("cloudformation")
    resources = [*_resources(cloudformation, "spinneret")]
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
    needed = read(folder, functions, names)
    lacking = 0
    for function in sorted(functions.values()):
        allowed, asked = permissions_of(function, templates), needed.get(function, set())
        lines = [f"  lacks {each}" for each in missing(asked, allowed)]
        lacking += len(lines)
        left = unused(asked, allowed)
        lines += [f"  unused: {', '.join(sorted(left[each]))} on {each}" for each in sorted(left)]
        total = sum(map(len, allowed.values()))
        print(f"{function}: {total - sum(map(len, left.values()))} of {total} permissions used")
        print("\n".join(lines))
    return int(lacking > 0)


def _resources(cloudformation: Any, stack: str) -> Iterator[dict[str, Any]]:
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    for page in pages:
        for each in page["StackResourceSummaries"]:
            yield each
            if each["ResourceType"] == "AWS::CloudFormation::Stack":
                yield from _resources(cloudformation, each["PhysicalResourceId"])


if __name__ == "__main__":
    sys.exit(main())
