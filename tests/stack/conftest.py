"""The WebSocket gateway with a scripted Lambda API, one of each for a test file."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stack.gateway_process import GatewayProcess, running_gateway
from tests.stack.lambda_probe import Laboratory
from tests.stack.scripted_lambda import ScriptedLambda


@pytest.fixture(scope="module")
def lambda_api() -> Iterator[ScriptedLambda]:
    """Runs as long as the gateway; tests take `functions`."""
    with ScriptedLambda() as scripted:
        yield scripted


@pytest.fixture
def functions(lambda_api: ScriptedLambda) -> Iterator[ScriptedLambda]:
    """As deployed at first; no connection of this test reaches into the next."""
    lambda_api.reset()
    yield lambda_api
    lambda_api.wait_until_all_ended()


@pytest.fixture(scope="module")
def gateway(
    lambda_api: ScriptedLambda, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    """A gateway with the time-outs of AWS."""
    log = tmp_path_factory.mktemp("gateway") / "log"
    with running_gateway(lambda_api, log) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def laboratory(aws: Callable[[str], Any]) -> Iterator[Laboratory]:
    """Functions that a test file deploys for itself."""
    laboratory = Laboratory(aws)
    yield laboratory
    laboratory.close()
