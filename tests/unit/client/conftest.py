"""A scripted server for both clients, which record their pauses instead of sleeping."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from spinneret_client import AsyncSpinneret, Spinneret

URL = "https://api.example"
KEY = "sk-test"
Outcome = httpx.Response | Exception


@dataclass
class Server:
    """Server that answers from a script or by a function; it records requests and pauses."""

    script: list[Outcome] = field(default_factory=list)
    route: Callable[[httpx.Request], Outcome] | None = None
    requests: list[httpx.Request] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        outcome = self.route(request) if self.route else self.script.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        if not outcome.is_closed:  # a stream that the test created
            return outcome
        # A response belongs to one request, but tests may return the same one several times.
        kept = httpx.Headers(outcome.headers)
        kept.pop("content-length", None)
        return httpx.Response(outcome.status_code, headers=kept, content=outcome.content)

    def client(self, **options: Any) -> Spinneret:
        """Return a blocking client that records its pauses."""
        http = httpx.Client(transport=httpx.MockTransport(self))
        client = Spinneret(URL, KEY, http=http, **options)
        client.transport.sleep = self.slept.append
        return client

    def async_client(self, **options: Any) -> AsyncSpinneret:
        """Return an asynchronous client that records its pauses."""

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        http = httpx.AsyncClient(transport=httpx.MockTransport(self))
        client = AsyncSpinneret(URL, KEY, http=http, **options)
        client.transport.sleep = sleep
        return client


def refusal(
    status: int, code: str, *, headers: dict[str, str] | None = None, **details: Any
) -> httpx.Response:
    body = {"error": f"because {code}", "code": code, "details": details, "request_id": "req-1"}
    return httpx.Response(status, json=body, headers=headers)


def event(number: int, **data: Any) -> dict[str, Any]:
    return {
        "id": f"ev_{number:04d}",
        "event": "metric",
        "message": f"step {number}",
        "progress": number,
        "created_at": "2026-11-23T00:00:00Z",
        "data": data,
    }


def sse(events: Iterable[dict[str, Any]]) -> str:
    parts = ["retry: 1000\n\n"]
    parts += [
        f"id: {each['id']}\nevent: {each['event']}\ndata: {json.dumps(each)}\n\n" for each in events
    ]
    return "".join(parts)


def stream(text: str) -> httpx.Response:
    return httpx.Response(
        200, text=text, headers={"content-type": "text/event-stream; charset=utf-8"}
    )


TAG = {"tag_id": "tag_1", "name": "silk", "created_at": "2026-11-23T00:00:00Z"}
SUBMISSION = {"job_id": "job_1", "status": "pending", "message": "accepted", "cached": False}


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture(autouse=True)
def no_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the developer's profiles and variables, and provide the path of the test's profiles."""
    monkeypatch.setenv("SPINNERET_CONFIG_HOME", str(tmp_path))
    for name in ("SPINNERET_URL", "SPINNERET_API_KEY", "SPINNERET_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config.toml"
