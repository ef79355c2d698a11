"""Responses that violate the documented format or contradict the last change."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld

Change = Callable[[StubResponse], StubResponse]
_HTML: Final = b"<html><body>Welcome</body></html>"


def _raw(body: bytes) -> Change:
    return lambda said: replace(said, headers={}, raw=body)


def _mistyped(value: Any) -> Any:
    """Return the value with the same names and other types."""
    match value:
        case dict():
            return {name: _mistyped(each) for name, each in value.items()}
        case bool() | int() | float():
            return ["x"]
        case _:
            return {"x": 1}


def _cut(said: StubResponse) -> StubResponse:
    body = said.body
    return replace(said, headers={}, raw=body[: len(body) // 2] or b"{")


UNFIT: Final[Mapping[str, Change]] = {
    "empty": _raw(b""),
    "html": _raw(_HTML),
    "null": _raw(b"null"),
    "{}": _raw(b"{}"),
    "truncated": _cut,
    "wrong types": lambda said: replace(said, headers={}, data=_mistyped(said.data or {"x": 1})),
    "200 for 201": lambda said: replace(said, status=200),
}
"""Changes to a successful response."""

GATEWAY: Final[Mapping[str, StubResponse]] = {
    "empty": StubResponse(200),
    "html": StubResponse(200, raw=_HTML),
    "null": StubResponse(200, raw=b"null"),
}
"""Responses of a gateway itself, which doesn't forward the request."""

EBAY_SHORT: Final[Mapping[str, StubResponse]] = {
    str(number): StubResponse(status, {"errors": [{"errorId": number, "message": "said"}]})
    for number, status in (
        (25001, 400),
        (20500, 400),
        (25025, 409),
        (25702, 404),
        (25713, 404),
    )
}
"""Temporary errors of eBay by error id."""

ETSY_SHORT: Final = StubResponse(404, {"error": "Resource not found"})


def number_calls(world: MarketWorld) -> list[str]:
    """Return a list that collects the names of all further calls in order."""
    names: list[str] = []

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        names.append(name)
        return serve()

    world.web.around = around
    return names


def change_call(world: MarketWorld, number: int, change: Change) -> None:
    """Change the response to one of the next calls if it is successful."""
    left = [number]

    def around(_: str, serve: Callable[[], StubResponse]) -> StubResponse:
        left[0] -= 1
        said = serve()
        return change(said) if left[0] == 0 and 200 <= said.status < 300 else said

    world.web.around = around


def replace_call(world: MarketWorld, number: int, answer: StubResponse) -> None:
    """Respond to one of the next calls without forwarding it to the market."""
    left = [number]

    def around(_: str, serve: Callable[[], StubResponse]) -> StubResponse:
        left[0] -= 1
        return answer if left[0] == 0 else serve()

    world.web.around = around
