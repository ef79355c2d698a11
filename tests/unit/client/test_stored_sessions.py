"""Sessions of users in profiles: started, refreshed once for all processes, and ended."""

# covers L-01
import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from spinneret_client import AuthRequired, Spinneret, stored_session
from spinneret_client.cli.main import main
from spinneret_client.config import Profile, load, save
from spinneret_client.errors import NotConfigured, SpinneretError
from spinneret_client.generated.resources import Sessions
from spinneret_client.stored_session import MARGIN_SECONDS, StoredSession
from spinneret_client.transport import Settings, Transport
from tests.unit.client.conftest import TAG, URL, Server, refusal

END = 10_000.0
SESSION = Profile(URL, "access-1", refresh_token="refresh-1", expires_at=END)


def tokens(number: int) -> httpx.Response:
    return httpx.Response(
        200,
        json={
            "access_token": f"access-{number}",
            "refresh_token": f"refresh-{number}",
            "token_type": "Bearer",
            "expires_in": 3600,
        },
    )


@pytest.fixture
def session(server: Server, no_profile: Path) -> Callable[[float], StoredSession]:
    """Provide a function that returns a process's session of the profile; its clock shows `now`."""

    def make(now: float) -> StoredSession:
        return StoredSession(
            no_profile,
            "default",
            SESSION,
            http=lambda: httpx.Client(transport=httpx.MockTransport(server)),
            clock=lambda: now,
        )

    save(no_profile, "default", SESSION)
    return make


def test_a_token_is_used_until_shortly_before_its_end(
    session: Callable[[float], StoredSession], server: Server
) -> None:
    assert session(END - MARGIN_SECONDS - 1).credential() == "access-1"
    assert server.requests == []


def test_processes_that_find_the_token_old_refresh_it_once(
    session: Callable[[float], StoredSession], server: Server, no_profile: Path
) -> None:
    server.script = [tokens(2)]
    now = END - MARGIN_SECONDS
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: each.credential(), [session(now) for _ in range(4)]))
    assert found == ["access-2"] * 4
    [sent] = server.requests
    assert json.loads(sent.content) == {"refresh_token": "refresh-1"}
    assert "Authorization" not in sent.headers
    stored = load(no_profile)["default"]
    assert (stored.key, stored.refresh_token) == ("access-2", "refresh-2")
    assert stored.expires_at == now + 3600


def test_a_lost_answer_is_asked_for_again(
    session: Callable[[float], StoredSession], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", server.slept.append)
    server.script = [httpx.ReadError("lost"), tokens(2)]
    assert session(END).credential() == "access-2"


@pytest.mark.parametrize(
    "answer",
    [httpx.ReadTimeout("hangs"), refusal(503, "CIRCUIT_OPEN", headers={"Retry-After": "40"})],
)
def test_a_refresh_takes_no_longer_than_its_server_repeats_the_answer(
    session: Callable[[float], StoredSession],
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    answer: httpx.Response | Exception,
) -> None:
    """A second attempt after that time would end the session, as its token was used before."""
    monkeypatch.setattr("time.sleep", server.slept.append)
    server.route = lambda _: answer
    with pytest.raises(SpinneretError):
        session(END).credential()
    first, _ = (each.extensions["timeout"]["read"] for each in server.requests)
    assert first + sum(server.slept) <= 10.0


def test_an_ended_session_asks_for_a_sign_in(
    session: Callable[[float], StoredSession],
    server: Server,
    no_profile: Path,
) -> None:
    server.script = [refusal(401, "AUTH_REQUIRED")]
    with pytest.raises(AuthRequired):
        session(END).credential()
    assert load(no_profile) == {"default": SESSION}
    save(no_profile, "default", None)
    with pytest.raises(NotConfigured, match="no session any more"):
        session(END).credential()


def test_both_clients_use_the_session_of_their_profile(
    server: Server, no_profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(no_profile, "default", SESSION)
    monkeypatch.setattr(StoredSession, "credential", lambda _: "access-9")
    server.script = [httpx.Response(200, json=TAG)] * 2
    Spinneret(http=httpx.Client(transport=httpx.MockTransport(server))).tags.get("tag_1")

    async def read() -> None:
        from spinneret_client import AsyncSpinneret  # noqa: PLC0415 - beside its use

        http = httpx.AsyncClient(transport=httpx.MockTransport(server))
        await AsyncSpinneret(http=http).tags.get("tag_1")

    asyncio.run(read())
    sent = [each.headers["Authorization"] for each in server.requests]
    assert sent == ["Bearer access-9"] * 2


@pytest.fixture
def anonymous(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send sign-ins to the scripted server."""

    def made(url: str) -> Sessions:
        http = httpx.Client(transport=httpx.MockTransport(server))
        return Sessions(Transport(Settings(url, lambda: None), http))

    monkeypatch.setattr("spinneret_client.cli.accounts.sessions_at", made)
    monkeypatch.setattr(stored_session.time, "time", lambda: 1000.0)


def test_a_person_signs_in_and_out(
    anonymous: None, server: Server, no_profile: Path, tmp_path: Path
) -> None:
    server.script = [tokens(1), httpx.Response(200, json={"signed_out": True})]
    arguments = ["login", "--url", f"{URL}/", "--tenant", "acme", "--email", "maya@example.com"]
    assert _with_stdin(tmp_path, "a password \n", [*arguments, "--password-stdin"]) == 0
    body = json.loads(server.requests[0].content)
    assert body == {"tenant": "acme", "email": "maya@example.com", "password": "a password "}
    expected = Profile(URL, "access-1", refresh_token="refresh-1", expires_at=4600.0)
    assert load(no_profile) == {"default": expected}
    main(["logout"])
    assert json.loads(server.requests[1].content) == {"refresh_token": "refresh-1"}
    assert load(no_profile) == {}


def test_the_profile_of_the_environment_is_signed_in_and_out(
    anonymous: None,
    server: Server,
    no_profile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Profile(URL, "sk-other")
    save(no_profile, "default", other)
    monkeypatch.setenv("SPINNERET_PROFILE", "work")
    server.script = [tokens(1), httpx.Response(200, json={"signed_out": True})]
    arguments = ["login", "--url", URL, "--tenant", "acme", "--email", "maya@example.com"]
    assert _with_stdin(tmp_path, "a password\n", [*arguments, "--password-stdin"]) == 0
    assert load(no_profile).keys() == {"default", "work"}
    assert main(["logout"]) == 0
    assert load(no_profile) == {"default": other}


def test_a_profile_is_removed_although_the_server_is_away(
    anonymous: None,
    server: Server,
    no_profile: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("time.sleep", server.slept.append)
    save(no_profile, "default", SESSION)
    server.route = lambda request: httpx.ConnectError("refused")
    assert main(["logout"]) == 0
    assert "wasn't ended on the server" in capsys.readouterr().err
    assert load(no_profile) == {}


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["--email", "maya@example.com"], "--tenant is missing"),
        (["--tenant", "acme"], "--email is missing"),
        (["--tenant", "acme", "--email", "maya@example.com"], "--password-stdin"),
        (["--key-stdin", "--email", "maya@example.com"], "--key-stdin stores a key"),
    ],
)
def test_an_incomplete_sign_in_names_the_option(
    anonymous: None, arguments: list[str], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["login", "--url", URL, *arguments]) == 1
    assert missing in capsys.readouterr().err


def test_a_wrong_password_stores_nothing(
    anonymous: None, server: Server, no_profile: Path, tmp_path: Path
) -> None:
    server.script = [refusal(401, "AUTH_REQUIRED")]
    arguments = ["login", "--url", URL, "--tenant", "acme", "--email", "maya@example.com"]
    assert _with_stdin(tmp_path, "wrong\n", [*arguments, "--password-stdin"]) == 4
    assert load(no_profile) == {}


def _with_stdin(tmp_path: Path, text: str, arguments: list[str]) -> int:
    file = tmp_path / "stdin"
    file.write_text(text)
    with file.open() as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", stdin)
        return main(arguments)
