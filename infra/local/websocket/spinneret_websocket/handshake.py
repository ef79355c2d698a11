"""The function's answer to ``$connect``, and its effect on the handshake."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from spinneret_websocket.errors import FunctionFailed


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """An accepted handshake; ``subprotocol`` is the one that the function chose."""

    subprotocol: str | None


@dataclass(frozen=True, kw_only=True)
class Refused:
    status: int

    @property
    def phrase(self) -> str:
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return "Refused"


def read_answer(answer: Any) -> Accepted | Refused:
    """Read a proxy response.

    Raises:
        FunctionFailed: it has no status code that a response can have.
    """
    status = answer.get("statusCode") if isinstance(answer, dict) else None
    if type(status) is not int or not 200 <= status <= 599:
        raise FunctionFailed("the answer to $connect has no status code")
    if status < 300:
        return Accepted(subprotocol=_subprotocol(answer.get("headers")))
    return Refused(status=status)


def _subprotocol(headers: Any) -> str | None:
    """Return the chosen subprotocol; a client that offers some disconnects unless one is chosen."""
    for name, value in headers.items() if isinstance(headers, dict) else ():
        if name.lower() == "sec-websocket-protocol" and isinstance(value, str):
            return value
    return None
