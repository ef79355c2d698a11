"""A function process behaves as on AWS, with the messages and limits that AWS documents."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.stack.lambda_probe import Laboratory

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def describing(laboratory: Laboratory) -> str:
    return laboratory.function("probe.describe", variables={"OWN": "value"})


@pytest.fixture(scope="module")
def description(laboratory: Laboratory, describing: str) -> dict[str, Any]:
    answer = laboratory.invoke(describing)
    assert answer.error is None
    return dict(answer.payload)


# Variables


def test_a_function_sees_the_variables_that_aws_sets(
    description: dict[str, Any], describing: str
) -> None:
    seen = description["variables"]
    expected = {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.12",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
        "AWS_LAMBDA_FUNCTION_NAME": describing,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{describing}",
        "AWS_REGION": "us-east-1",
        "LANG": "en_US.UTF-8",
        "OWN": "value",
        "TZ": ":UTC",
        "_HANDLER": "probe.describe",
    }
    assert {name: seen.get(name) for name in expected} == expected
    assert seen["LAMBDA_TASK_ROOT"] == description["folder"]
    assert seen.keys() >= {
        "AWS_ACCESS_KEY_ID",
        "AWS_ENDPOINT_URL",
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "AWS_LAMBDA_RUNTIME_API",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "LAMBDA_RUNTIME_DIR",
    }


def test_a_function_sees_no_variable_of_the_machine(description: dict[str, Any]) -> None:
    seen = description["variables"]
    ours = {"HOME", "LANG", "LD_LIBRARY_PATH", "OWN", "PATH", "PYTHONPATH", "TMPDIR", "TZ"}
    from_localstack = {"EDGE_PORT", "LOCALSTACK_HOSTNAME"}
    pattern = re.compile(r"_?AWS_|_HANDLER$|LAMBDA_|_X_AMZN_TRACE_ID$")
    unexpected = {name for name in seen if not pattern.match(name)} - ours - from_localstack
    assert unexpected <= {"LC_CTYPE"}  # Python sets it if the machine has no en_US.UTF-8
    assert seen["HOME"] != os.environ.get("HOME")


def test_text_is_utf8_whatever_the_locales_of_the_machine(description: dict[str, Any]) -> None:
    assert description["filesystem_encoding"] == "utf-8"


def test_the_context_tells_arn_and_remaining_time(
    laboratory: Laboratory, description: dict[str, Any], describing: str
) -> None:
    assert description["arn"].endswith(f":function:{describing}")
    assert 13_000 < description["remaining_ms"] <= 15_000


def test_a_function_may_set_what_aws_leaves_to_it(laboratory: Laboratory) -> None:
    own = {"LANG": "C.UTF-8", "PATH": "/usr/bin", "PYTHONPATH": "/own"}
    answer = laboratory.invoke(laboratory.function("probe.describe", variables=own))
    assert {name: answer.payload["variables"][name] for name in own} == own
    # AWS's bootstrap omits the layers if a function sets its own PYTHONPATH.
    assert answer.payload["search_path"][:2] == [answer.payload["folder"], "/own"]


# Code and layers


def test_the_search_path_has_the_order_of_aws(description: dict[str, Any]) -> None:
    task_root, site_packages, opt_python, runtime, *library = description["search_path"]
    opt = opt_python.removesuffix("/python")
    assert task_root == description["variables"]["LAMBDA_TASK_ROOT"]
    assert site_packages == f"{opt}/python/lib/python3.12/site-packages"
    assert runtime == description["variables"]["LAMBDA_RUNTIME_DIR"]
    assert not any(path.startswith((task_root, opt)) for path in library)


def test_code_wins_over_layers_and_later_layers_over_earlier_ones(laboratory: Laboratory) -> None:
    site_packages = "python/lib/python3.12/site-packages"
    first = laboratory.layer(
        {f"python/{name}.py": "ORIGIN = 'first layer'" for name in ("one", "two", "three", "four")}
    )
    second = laboratory.layer(
        {
            "python/two.py": "ORIGIN = 'second layer'",
            "python/three.py": "ORIGIN = 'second layer'",
            f"{site_packages}/four.py": "ORIGIN = 'site-packages of the second layer'",
        }
    )
    function = laboratory.function(
        "probe.import_layers",
        layers=[first, second],
        files={"three.py": "ORIGIN = 'code'"},
    )
    answer = laboratory.invoke(function, {"modules": ["one", "two", "three", "four"]})
    assert answer.payload == {
        "one": "first layer",
        "two": "second layer",
        "three": "code",
        "four": "site-packages of the second layer",
    }


def test_two_functions_with_the_same_code_share_one_folder(
    laboratory: Laboratory, description: dict[str, Any]
) -> None:
    other = laboratory.invoke(laboratory.function("probe.describe")).payload
    assert other["folder"] == description["folder"]


def test_files_stay_while_another_function_uses_them(laboratory: Laboratory) -> None:
    files = {"own.py": "ORIGIN = 'shared'"}
    staying = laboratory.function("probe.import_layers", files=files)
    deleted = Laboratory(laboratory.aws)
    deleted.function("probe.import_layers", files=files)
    deleted.close()
    assert laboratory.invoke(staying, {"modules": ["own"]}).payload == {"own": "shared"}


# One process per environment


def test_a_warm_function_keeps_its_process(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.describe")
    first, second = laboratory.invoke(function), laboratory.invoke(function)
    assert second.payload["pid"] == first.payload["pid"]
    assert second.payload["calls"] == 2
    assert second.payload["request_id"] != first.payload["request_id"]


def test_only_a_cold_start_reports_an_init_duration(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.describe")
    assert laboratory.invoke(function).log_number("Init Duration") > 0
    assert "Init Duration" not in laboratory.invoke(function).log


def test_twenty_simultaneous_invocations_all_succeed(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.sleep")
    with ThreadPoolExecutor(20) as callers:
        answers = list(
            callers.map(lambda _: laboratory.invoke(function, {"seconds": 1}), range(20))
        )
    assert [answer.error for answer in answers] == [None] * 20
    assert len({answer.payload["pid"] for answer in answers}) > 1


# Logs


def test_the_log_of_an_invocation_is_in_cloudwatch(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.sleep")
    answer = laboratory.invoke(function, {"seconds": 0.1})
    lines = [match[0] for match in laboratory.logged(function, r"^.*$", count=4)]
    request_id = answer.request_id
    assert lines[0] == f"START RequestId: {request_id} Version: $LATEST"
    assert lines[1].startswith("SLEPT ")
    assert lines[2] == f"END RequestId: {request_id}"
    assert re.match(
        rf"REPORT RequestId: {request_id}\tDuration: [\d.]+ ms\tBilled Duration: \d+ ms"
        r"\tMemory Size: 128 MB\tMax Memory Used: [1-9]\d* MB\tInit Duration: [\d.]+ ms\t",
        lines[3],
    )
