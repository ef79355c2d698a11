"""A Lambda API on loopback with one function, whose responses a test scripts.

It has the operations that the WebSocket gateway needs: DescribeStacks and synchronous Invoke.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Any, Self

STACK = "scripted"
WAIT_SECONDS = 10.0

_DESCRIPTION = (
    '<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">'
    "<DescribeStacksResult><Stacks><member><StackName>{stack}</StackName><Outputs>"
    "<member><OutputKey>ApiId</OutputKey><OutputValue>other</OutputValue></member>{output}"
    "</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>"
)
_OUTPUT = "<member><OutputKey>WebSocketFunction</OutputKey><OutputValue>{}</OutputValue></member>"


@dataclass(frozen=True)
class Reply:
    """A response of the Lambda API."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def opens(self) -> bool:
        """Return whether this response to $connect accepts the client."""
        status = self.body.get("statusCode") if isinstance(self.body, dict) else None
        return isinstance(status, int) and status < 300


Behaviour = Callable[[dict[str, Any]], Reply]


def answer(status: int, **headers: str) -> Behaviour:
    """Return a behaviour: the function returns a proxy response."""
    return lambda _: Reply({"statusCode": status, "headers": headers})


def plain(body: Any) -> Behaviour:
    """Return a behaviour: the function returns this value."""
    return lambda _: Reply(body)


def raising(_event: dict[str, Any]) -> Reply:
    """Reply as if the function raised an exception."""
    body = {"errorType": "KeyError", "errorMessage": "a secret"}
    return Reply(body, headers={"X-Amz-Function-Error": "Unhandled"})


def throttled(_event: dict[str, Any]) -> Reply:
    """Reply that the Lambda API throttles the invocation."""
    return Reply({}, 429, {"X-Amzn-ErrorType": "TooManyRequestsException"})


class Gate:
    """A behaviour that replies after `open` was called."""

    def __init__(self) -> None:
        self._opened = Event()

    def open(self) -> None:
        self._opened.set()

    def __call__(self, event: dict[str, Any]) -> Reply:
        if not self._opened.wait(WAIT_SECONDS):
            raise TimeoutError
        return answer(200)(event)


class ScriptedLambda:
    """A context manager that runs the API.

    `script` changes the behaviour of a route; `reset` restores all behaviours.
    """

    def __enter__(self) -> Self:
        self._changed = Condition()
        self.reset()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(WAIT_SECONDS)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def reset(self) -> None:
        """Restore the first state: function `live-1`, default behaviours, no invocations."""
        with self._changed:
            self.function: str | None = "live-1"
            self.invocations: list[tuple[str, dict[str, Any]]] = []
            self._open: set[str] = set()
            self._behaviours: dict[str, Behaviour] = {}

    def script(self, route: str, behaviour: Behaviour) -> None:
        self._behaviours[route] = behaviour

    def deploy(self, function: str | None) -> None:
        """Redeploy the stack with a function of this name; None omits the output for it."""
        self.function = function

    def events(self, route: str) -> list[dict[str, Any]]:
        """Return the events of a route so far."""
        seen = [event for _, event in list(self.invocations)]
        return [event for event in seen if event["requestContext"]["routeKey"] == route]

    def of(self, connection: str) -> list[dict[str, Any]]:
        """Return the events of a connection so far."""
        seen = [event for _, event in list(self.invocations)]
        return [event for event in seen if event["requestContext"]["connectionId"] == connection]

    def wait_for(self, route: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until a route has `count` events, and return its events."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: len(self.events(route)) >= count, WAIT_SECONDS)
        assert arrived, f"{route}: {self.events(route)}"
        return self.events(route)

    def wait_until_all_ended(self) -> None:
        """Wait until every opened connection has its $disconnect event."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._open, WAIT_SECONDS), self._open

    def _invoke(self, function: str, event: dict[str, Any]) -> Reply:
        if function != self.function:
            return Reply({}, 404, {"X-Amzn-ErrorType": "ResourceNotFoundException"})
        route = event["requestContext"]["routeKey"]
        connection = event["requestContext"]["connectionId"]
        with self._changed:
            self.invocations.append((function, event))
            if route == "$disconnect":
                self._open.discard(connection)
            self._changed.notify_all()
        reply = self._behaviours.get(route, answer(200))(event)
        if route == "$connect" and reply.opens:
            self._open.add(connection)
        return reply

    def _describe(self, form: str) -> tuple[int, bytes]:
        if f"StackName={STACK}" not in form.split("&"):
            return 400, b"<ErrorResponse/>"
        output = _OUTPUT.format(self.function) if self.function else ""
        return 200, _DESCRIPTION.format(stack=STACK, output=output).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if self.path == "/":
                    self._send(*scripted._describe(body), {})
                    return
                prefix, function, suffix = self.path.rsplit("/", 2)
                assert (prefix, suffix) == ("/2015-03-31/functions", "invocations")
                reply = scripted._invoke(function, json.loads(body))
                self._send(reply.status, json.dumps(reply.body).encode(), reply.headers)

            def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        return Handler
