"""Embedder that invokes a Lambda function of this application; used if no server is configured.

The function is `functions/search/embedder.py`. It takes `{path, body}` and returns `{status, body}`
like TEI's HTTP routes.
"""

import json
import time
from collections.abc import Callable
from typing import Any, Final

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import LambdaClient
from spinneret.content.search import limits
from spinneret.content.search.tei_protocol import ProtocolEmbedder, Server, TeiResponse, Unreachable
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable

# An SDK client has one time-out for all calls. There is one client for each of these seconds, and a
# call uses the longest that fits into the remaining time. 2.5 suits a search's embedding budget
# (SEARCH_EMBED_SECONDS), less the time already used.
LENGTHS: Final = (300.0, 120.0, 60.0, 40.0, 25.0, 15.0, 10.0, 7.0, 5.0, 3.5, 2.5, 1.5, 1.0, 0.5)


class LambdaEmbedder(ProtocolEmbedder):
    """An embedder that runs as a Lambda function."""

    def __init__(
        self,
        function: str,
        client_of: Callable[[float], LambdaClient],
        sleep: Callable[[float], None] = time.sleep,
        seconds: float = limits.EMBED_SECONDS,
    ) -> None:
        """Take a `client_of` that creates a client without retries and with this time-out in
        seconds."""
        super().__init__(
            Server(
                dependency="embedder",
                send=_Invoked(function, client_of).send,
                sleep=sleep,
                seconds=seconds,
            )
        )


class _Invoked:
    """Sends requests to a function."""

    def __init__(self, function: str, client_of: Callable[[float], LambdaClient]) -> None:
        self._function = function
        self._client_of = client_of
        self._clients: dict[float, LambdaClient] = {}

    def send(self, _method: str, path: str, body: Any, left: Remaining) -> TeiResponse:
        """See `tei_protocol.Send`."""
        payload = json.dumps({"path": path, "body": body}).encode()
        client = self._client(left())
        try:
            with translate_aws_errors("embedder"):
                response = client.invoke(FunctionName=self._function, Payload=payload)
                content = response["Payload"].read()
        except DependencyUnavailable as error:
            raise Unreachable(type(error.__cause__).__name__) from None
        answer = json.loads(content)
        if "FunctionError" in response:  # it ran out of time or memory, or raised
            raise Unreachable(str(answer.get("errorType")))
        return TeiResponse(answer["status"], answer["body"])

    def _client(self, left: float) -> LambdaClient:
        seconds = next((each for each in LENGTHS if each <= left), None)
        if seconds is None:
            raise Unreachable("NoTimeLeft")
        if seconds not in self._clients:
            self._clients[seconds] = self._client_of(seconds)
        return self._clients[seconds]
