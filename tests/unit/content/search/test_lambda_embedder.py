"""The embedder as a Lambda function: its requests and its failures."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from spinneret.content.documents.models import EmbedderInfo
from spinneret.content.search import limits
from spinneret.content.search.lambda_embedder import LENGTHS, LambdaEmbedder
from spinneret.content.vectors import rounded
from spinneret.kernel.errors import DependencyUnavailable, EmbeddingRefused
from tests.fakes.time import plenty

INFO = {"model_id": "org/model", "max_input_length": 512, "max_client_batch_size": 32}
Failure = Exception | dict[str, Any]


class Function:
    """A Lambda function that returns vectors of three dimensions and records its requests."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.seconds: list[float] = []
        self.pauses: list[float] = []
        self.failures: list[Failure] = []
        self.hung: Callable[[float], None] | None = None

    def embedder(self, seconds: float = limits.EMBED_SECONDS) -> LambdaEmbedder:
        made: Any = lambda seconds: _Client(self, seconds)  # noqa: E731 - stands for a client
        return LambdaEmbedder("embed-it", made, self.pauses.append, seconds)

    def answer(self, request: dict[str, Any]) -> Any:
        match request["path"]:
            case "/info":
                return INFO
            case "/embed":
                return [[0.0, 3.0, 4.0]] * len(request["body"]["inputs"])
        raise AssertionError(request)


class _Client:
    def __init__(self, function: Function, seconds: float) -> None:
        self._function = function
        self._seconds = seconds

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's
        assert FunctionName == "embed-it"
        self._function.seconds.append(self._seconds)
        self._function.asked.append(json.loads(Payload))
        if self._function.hung:
            self._function.hung(self._seconds)
        if self._function.failures:
            failure = self._function.failures.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return _response(failure)
        return _response({"status": 200, "body": self._function.answer(self._function.asked[-1])})


def _response(content: dict[str, Any]) -> dict[str, Any]:
    failed = {"FunctionError": "Unhandled"} if "errorType" in content else {}
    return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(content).encode()), **failed}


def client_error(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]  # what is read of it
        "Invoke",
    )


@pytest.fixture
def function() -> Function:
    return Function()


def test_it_is_asked_as_a_server_would_be(function: Function) -> None:
    embedder = function.embedder()
    assert embedder.info(plenty) == EmbedderInfo(
        model_id="org/model", dimension=3, max_input_tokens=512, max_batch=32
    )
    assert embedder.embed(["silk", "web"], plenty) == [rounded((0.0, 0.6, 0.8))] * 2
    assert function.asked[-1] == {
        "path": "/embed",
        "body": {"inputs": ["silk", "web"], "normalize": False, "truncate": False},
    }


@pytest.mark.parametrize(
    "failure",
    [
        client_error("TooManyRequestsException", 429),
        client_error("ServiceException", 500),
        ConnectTimeoutError(endpoint_url="https://lambda"),
        ReadTimeoutError(endpoint_url="https://lambda"),
        {"errorType": "Sandbox.Timedout", "errorMessage": "silk"},
        {"errorType": "Runtime.ExitError"},
        {"status": 424, "body": {"error": "Backend error", "error_type": "Backend"}},
        {"status": 503, "body": None},
    ],
    ids=lambda each: str(each)[:40],
)
def test_a_failure_of_the_function_is_tried_again_and_then_our_fault(
    function: Function, failure: Failure
) -> None:
    embedder = function.embedder()
    embedder.info(plenty)
    permanent = isinstance(failure, dict) and failure.get("status") == 424
    function.failures = [failure] * 99
    with pytest.raises(EmbeddingRefused if permanent else DependencyUnavailable):
        embedder.embed(["silk"], plenty)
    assert len(function.asked) == 2 + (1 if permanent else limits.EMBED_ATTEMPTS)
    assert function.pauses == ([] if permanent else [0.2, 0.4])


def test_what_the_function_refuses_is_the_texts_fault(function: Function) -> None:
    embedder = function.embedder()
    embedder.info(plenty)
    function.failures = [{"status": 413, "body": {"error": "too long"}}]
    with pytest.raises(EmbeddingRefused) as refused:
        embedder.embed(["silk"], plenty)
    assert refused.value.details == {"status_code": 413}


def test_a_call_that_may_not_be_made_is_no_outage(function: Function) -> None:
    function.failures = [client_error("AccessDeniedException", 403)]
    with pytest.raises(ClientError):
        function.embedder().info(plenty)
    assert len(function.asked) == 1


def test_what_a_function_says_of_its_failure_is_not_logged(
    function: Function, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    function.failures = [{"errorType": "ValueError", "errorMessage": "a tenant's text"}]
    function.embedder().info(plenty)
    logged = "".join(str(each.__dict__) for each in caplog.records)
    assert "ValueError" in logged
    assert "a tenant's text" not in logged


@pytest.mark.parametrize(("left", "tries"), [(2.6, 1), (6.0, 2), (0.4, 0), (0.0, 0)])
def test_no_call_lasts_longer_than_the_time_that_is_left(
    function: Function, left: float, tries: int
) -> None:
    clock = [left]
    over: list[float] = []

    def hang(seconds: float) -> None:
        over.append(seconds - clock[0])
        clock[0] -= seconds
        raise ReadTimeoutError(endpoint_url="https://lambda")

    function.hung = hang
    with pytest.raises(DependencyUnavailable):
        function.embedder().embed(["silk"], lambda: clock[0])
    assert all(each <= 0 for each in over)
    assert len(over) == tries


def test_a_stage_bounds_one_call(function: Function) -> None:
    function.embedder(seconds=7).embed(["silk"], plenty)
    assert set(function.seconds) == {7.0}


def test_calls_of_about_the_same_time_share_a_client(function: Function) -> None:
    embedder = function.embedder()
    for left in (3.0, 2.9, 2.7, 2.6):
        embedder.embed(["silk"], lambda left=left: left)  # type: ignore[misc]  # mypy: defaults of a lambda
    assert set(function.seconds) == {2.5}


def test_a_search_has_a_time_for_its_vector() -> None:
    usable = max(each for each in LENGTHS if each < limits.SEARCH_EMBED_SECONDS)
    assert usable > 0.8 * limits.SEARCH_EMBED_SECONDS
