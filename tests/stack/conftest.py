"""Fixtures: the WebSocket gateway with a scripted Lambda API, one of each per test file."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stack.gateway_process import GatewayProcess, running_gateway
from tests.stack.lambda_probe import Laboratory
from tests.stack.scripted_lambda import ScriptedLambda


@pytest.fixture(scope="module")
def lambda_api() -> Iterator[ScriptedLambda]:
    """Run the Lambda API as long as the gateway; tests use the fixture `functions`."""
    with ScriptedLambda() as scripted:
        yield scripted


@pytest.fixture
def functions(lambda_api: ScriptedLambda) -> Iterator[ScriptedLambda]:
    """Provide the Lambda API in its first state; wait until all connections of the test end."""
    lambda_api.reset()
    yield lambda_api
    lambda_api.wait_until_all_ended()


@pytest.fixture(scope="module")
def gateway(
    lambda_api: ScriptedLambda, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    """Provide a gateway with the time-outs of AWS."""
    log = tmp_path_factory.mktemp("gateway") / "log"
    with running_gateway(lambda_api, log) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def laboratory(aws: Callable[[str], Any]) -> Iterator[Laboratory]:
    """Provide a laboratory in which a test file deploys its own functions."""
    laboratory = Laboratory(aws)
    yield laboratory
    laboratory.close()
