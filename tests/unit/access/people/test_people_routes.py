"""The routes of users, behind the entry point that admits requests."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from people.auth_routes import routes as auth_routes
from people.users_routes import routes as users_routes
from sign_in.auth_routes import routes as sign_in_routes
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import ROLE_PERMISSIONS, Permission, Role
from spinneret.access.sessions.service import SessionService
from spinneret.access.sessions.sign_in import SignIn
from spinneret.access.tokens.service import TokenVerifier
from spinneret.access.trail.ports import Trail
from spinneret.access.uploads.service import UploadService
from spinneret.access.users.passwords import PasswordService
from spinneret.access.users.service import UserService
from spinneret.runtime.http import entrypoint
from tests.fakes.uploads import FakeUploadStore
from tests.unit.access.people.team import PASSWORD, Team
from tests.unit.runtime.api import Answer, Invocation, changed, load
from tests.unit.runtime.documented import assert_documented

Send = Callable[..., Answer]
CONSOLE = "https://console.example.com"
"""An origin that the stage allows."""


@dataclass(frozen=True)
class Services:
    """Services that admission and routes use."""

    keys: Any
    uploads: UploadService
    users: UserService
    sessions: SessionService
    verifier: TokenVerifier
    sign_in: SignIn
    passwords: PasswordService
    origins: frozenset[str]
    trail: Trail


# The host of the stored API Gateway event.
OWN: Final = {"Origin": "https://a1b2c3d4e5.execute-api.us-east-1.amazonaws.com"}
LOCAL: Final = {"Host": "127.0.0.1:4566", "Origin": "http://127.0.0.1:4566"}


@pytest.fixture
def send(team: Team) -> Send:
    """Provide a function that sends requests with an access token, a key or neither.

    The function checks that each response is documented.
    """
    uploads = UploadService(store=FakeUploadStore(), clock=team.clock, new_id=str)
    services = Services(
        team.keys,
        uploads,
        team.users,
        team.sessions,
        team.verifier,
        team.entrance,
        team.passwords,
        frozenset({CONSOLE}),
        team.trail,
    )
    routes = (auth_routes, users_routes, sign_in_routes)
    api = entrypoint.Api("people-api", *routes, make=lambda _: services)

    def request(
        method: str,
        path: str,
        body: Any = None,
        bearer: str | None = None,
        query: Mapping[str, str] | None = None,
        **headers: str | None,
    ) -> Answer:
        event = changed(
            load("sign_in/login.json"),
            None,
            body="" if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {bearer}" if bearer else None, **headers},
            httpMethod=method,
            path=path,
            queryStringParameters=query,
            multiValueQueryStringParameters={
                name: [value] for name, value in (query or {}).items()
            },
        )
        answer = api.handler(event, Invocation())  # type: ignore[arg-type]  # stands for the context
        headers = {name: each[-1] for name, each in answer.get("multiValueHeaders", {}).items()}
        headers |= answer.get("headers", {})
        assert_documented(method, path, answer["statusCode"], headers, answer["body"])
        return Answer(answer["statusCode"], headers, answer["body"])

    return request


# covers T-02, T-03
def test_an_administrator_invites_and_the_invited_signs_in(team: Team, send: Send) -> None:
    team.person()
    admin = team.sign_in().access_token
    wanted = {"email": "Noah@example.com", "name": " Noah ", "role": "seller"}
    invited = send("POST", "/api/v1/users", wanted, admin)
    assert (invited.status, invited.headers["Cache-Control"]) == (201, "no-store")
    assert (invited.body["name"], invited.body["has_password"]) == ("Noah", False)
    chosen = {"invitation": invited.body["invitation"], "password": PASSWORD}
    assert send("POST", "/api/v1/auth/accept", chosen).body["has_password"]
    assert send("POST", "/api/v1/auth/accept", chosen).status == 401
    credentials = {"tenant": "acme", "email": "noah@example.com", "password": PASSWORD}
    tokens = send("POST", "/api/v1/auth/login", credentials)
    assert (tokens.status, tokens.headers["Cache-Control"]) == (200, "no-store")
    assert (tokens.body["token_type"], tokens.body["expires_in"]) == ("Bearer", 3600)
    access, refresh = tokens.body["access_token"], tokens.body["refresh_token"]
    me = send("GET", "/api/v1/auth/me", bearer=access).body
    assert (me["kind"], me["role"], me["scopes"]) == ("user", "seller", [])
    assert "create_product" in me["permissions"]
    refused = send("GET", "/api/v1/users", bearer=access)
    assert (refused.status, refused.body["code"]) == (403, "FORBIDDEN")
    assert "manage_users" in refused.body["error"]
    user = f"/api/v1/users/{me['id']}"
    listed = send("GET", "/api/v1/users", bearer=admin).body["items"]
    assert [each["email"] for each in listed] == ["maya@example.com", "noah@example.com"]
    change = {"name": "Noah", "role": "viewer", "is_active": True}
    assert send("PUT", user, change, admin).body["role"] == "viewer"
    assert send("POST", "/api/v1/auth/refresh", {"refresh_token": refresh}).status == 401
    assert send("DELETE", user, bearer=admin).status == 204
    assert send("GET", user, bearer=admin).status == 404


# covers T-03
def test_a_narrowed_key_gives_no_role_that_has_more_than_the_key(team: Team, send: Send) -> None:
    user = team.person(Role.VIEWER)
    reading = ROLE_PERMISSIONS[Role.VIEWER] | {Permission.MANAGE_USERS}
    _, key = team.keys.issue("acme", "narrow", frozenset({Scope.ADMIN}), permissions=reading)
    noah = {"email": "noah@example.com", "name": "Noah"}
    change = {"name": "Maya", "is_active": True}
    for role, statuses in ((Role.ADMIN, (403, 403)), (Role.VIEWER, (201, 200))):
        invited = send("POST", "/api/v1/users", {**noah, "role": role}, key)
        changed_ = send("PUT", f"/api/v1/users/{user.id}", {**change, "role": role}, key)
        assert (invited.status, changed_.status) == statuses
    admin = team.person(Role.ADMIN, "lena")
    renamed = {"name": "Lena", "is_active": True, "role": "admin"}
    assert send("PUT", f"/api/v1/users/{admin.id}", renamed, key).status == 200


def test_a_session_is_refreshed_and_ended(team: Team, send: Send) -> None:
    team.person()
    refresh = team.sign_in().refresh_token
    tokens = send("POST", "/api/v1/auth/refresh", {"refresh_token": refresh}).body
    new = {"current_password": PASSWORD, "new_password": "quite another password"}
    wrong = {"current_password": "a wrong password here", "new_password": PASSWORD}
    assert send("POST", "/api/v1/auth/password", wrong, tokens["access_token"]).status == 403
    assert send("POST", "/api/v1/auth/password", new, tokens["access_token"]).status == 200
    assert send("POST", "/api/v1/auth/refresh", tokens_of(tokens)).status == 401
    refresh = team.sign_in(password="quite another password").refresh_token
    ended = send("POST", "/api/v1/auth/logout", {"refresh_token": refresh, "all": True})
    assert (ended.status, ended.body) == (200, {"all": True})
    assert send("POST", "/api/v1/auth/logout", {"refresh_token": refresh}).status == 401


# covers T-02
@pytest.mark.parametrize("path", ["refresh", "logout"])
def test_an_access_token_is_refused_as_any_wrong_refresh_token(
    team: Team, send: Send, path: str
) -> None:
    team.person()
    access = team.sign_in().access_token
    answers = [
        send("POST", f"/api/v1/auth/{path}", {"refresh_token": each}) for each in (access, "wrong")
    ]
    assert [each.status for each in answers] == [401, 401]
    assert answers[0].body["error"] == answers[1].body["error"]


# covers T-02
def test_the_trail_is_listed_page_by_page(team: Team, send: Send) -> None:
    team.person()
    for _ in range(2):
        team.clock.advance(1)
        admin = team.sign_in().access_token
    types, cursor = [], None
    while cursor is not None or not types:
        query = {"limit": "1", **({"cursor": cursor} if cursor else {})}
        page = send("GET", "/api/v1/auth/events", None, admin, query)
        assert page.status == 200, page.text
        types += [each["type"] for each in page.body["items"]]
        cursor = page.body["next_cursor"]
    assert types == ["user.signed_in", "user.signed_in", "user.password_changed"]


def tokens_of(tokens: dict[str, Any]) -> dict[str, str]:
    """Return the body of a refresh request."""
    return {"refresh_token": tokens["refresh_token"]}


# ---------------------------------------------------------------- Cookies


def cookie_of(answer: Answer) -> tuple[str, set[str]]:
    """Return the cookie that a response sets, as a browser sends it back, and its attributes."""
    pair, *attributes = answer.headers["Set-Cookie"].split("; ")
    return pair, set(attributes)


# covers T-02
def test_a_browser_holds_the_refresh_token_in_a_cookie(team: Team, send: Send) -> None:
    team.person()
    credentials = {"tenant": "acme", "email": "maya@example.com", "password": PASSWORD}
    signed_in = send("POST", "/api/v1/auth/login", {**credentials, "cookie": True}, **OWN)
    assert (signed_in.status, signed_in.body["refresh_token"]) == (200, None)
    cookie, attributes = cookie_of(signed_in)
    # Without a Path attribute, a browser uses the request's path up to its last slash.
    assert attributes == {
        *("HttpOnly", "Secure", "SameSite=Strict"),
        "Expires=Fri, 09 Jan 2026 12:00:00 GMT",
    }
    team.clock.advance(3600)
    held = {"Cookie": f"theme=dark; {cookie}", "Origin": CONSOLE}
    refreshed = send("POST", "/api/v1/auth/refresh", {}, **held)
    assert refreshed.body["refresh_token"] is None
    assert refreshed.headers["Access-Control-Allow-Origin"] == CONSOLE
    follower, again = cookie_of(refreshed)
    assert (follower != cookie, again) == (True, attributes)
    ended = send("POST", "/api/v1/auth/logout", {}, Cookie=follower, **OWN)
    assert (ended.status, cookie_of(ended)[0]) == (200, "spinneret_refresh=")
    assert "Expires=Thu, 01 Jan 1970 00:00:00 GMT" in cookie_of(ended)[1]
    assert send("POST", "/api/v1/auth/refresh", {}, Cookie=follower, **OWN).status == 401


def test_a_cookie_of_loopback_needs_no_tls(team: Team, send: Send) -> None:
    team.person()
    body = {"tenant": "acme", "email": "maya@example.com", "password": PASSWORD, "cookie": True}
    _, attributes = cookie_of(send("POST", "/api/v1/auth/login", body, **LOCAL))
    assert "Secure" not in attributes
    assert "HttpOnly" in attributes


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://a1b2c3d4e5.execute-api.us-east-1.amazonaws.com"},
        {"Origin": f"{CONSOLE}.evil.example"},
        {"Origin": "http://127.0.0.1:4567", "Host": "127.0.0.1:4566"},
        {"Origin": "http://127.0.0.1.evil.example", "Host": "127.0.0.1.evil.example"},
    ],
)
# covers T-02
def test_a_foreign_page_uses_no_cookie(team: Team, send: Send, headers: dict[str, str]) -> None:
    team.person()
    token = team.sign_in().refresh_token
    cookie = {"Cookie": f"spinneret_refresh={token}", **headers}
    body = {"tenant": "acme", "email": "maya@example.com", "password": PASSWORD, "cookie": True}
    assert send("POST", "/api/v1/auth/login", body, **headers).status == 403
    for path in ("/api/v1/auth/refresh", "/api/v1/auth/logout"):
        refused = send("POST", path, {}, **cookie)
        assert (refused.status, "Set-Cookie" in refused.headers) == (403, False)
    # A token in the body is accepted, because no foreign page can make a browser send it.
    assert send("POST", "/api/v1/auth/refresh", {"refresh_token": token}, **cookie).status == 200


# covers T-02
def test_a_second_cookie_signs_nobody_in_as_another(team: Team, send: Send) -> None:
    """Another host of the domain has set a cookie with a longer path, so browsers send it first."""
    team.person()
    team.person(Role.ADMIN, "mallory")
    own, foreign = (team.sign_in(name).refresh_token for name in ("maya", "mallory"))
    both = f"spinneret_refresh={foreign}; spinneret_refresh={own}"
    assert send("POST", "/api/v1/auth/refresh", {}, Cookie=both, **OWN).status == 401
    twice = f"spinneret_refresh={own}; spinneret_refresh={own}"
    assert send("POST", "/api/v1/auth/refresh", {}, Cookie=twice, **OWN).status == 200


def test_a_cookie_may_follow_a_token_in_the_body(team: Team, send: Send) -> None:
    team.person()
    body = {"refresh_token": team.sign_in().refresh_token, "cookie": True}
    assert send("POST", "/api/v1/auth/refresh", body).status == 403
    answer = send("POST", "/api/v1/auth/refresh", body, **OWN)
    assert answer.body["refresh_token"] is None
    assert cookie_of(answer)[0].startswith("spinneret_refresh=spr_acme.")
    for path in ("/api/v1/auth/refresh", "/api/v1/auth/logout"):
        assert send("POST", path, {}, **OWN).status == 401


def test_a_key_has_no_password(team: Team, send: Send) -> None:
    _, secret = team.keys.issue("acme", "laptop", frozenset({Scope.ADMIN}))
    me = send("GET", "/api/v1/auth/me", bearer=secret).body
    assert (me["kind"], me["role"], me["scopes"]) == ("key", None, ["admin"])
    new = {"current_password": PASSWORD, "new_password": "quite another password"}
    assert send("POST", "/api/v1/auth/password", new, secret).status == 403


def test_published_keys_need_no_credential_and_may_be_cached(send: Send) -> None:
    answer = send("GET", "/.well-known/jwks.json")
    [key] = answer.body["keys"]
    assert (key["kty"], key["alg"], set(key)) == (
        "RSA",
        "RS256",
        {*["e", "n", "kty", "alg", "kid", "use"]},
    )
    assert answer.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/auth/login", {"tenant": "acme", "email": "x", "password": 1}),
        ("/api/v1/auth/login", {"tenant": "acme", "email": "x", "password": "x" * 2000}),
        ("/api/v1/auth/login", {"tenant": "acme", "email": "x", "password": "y", "role": "admin"}),
        ("/api/v1/auth/login", {"tenant": "acme", "email": "x", "password": f"{PASSWORD}\ud800"}),
        ("/api/v1/auth/refresh", {"refresh_token": ""}),
        ("/api/v1/auth/accept", {"invitation": "", "password": PASSWORD}),
    ],
)
# covers T-02
def test_a_malformed_request_is_refused_without_its_values(
    send: Send, path: str, body: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = send("POST", path, body)
    assert answer.status == 422
    password = str(body.get("password", "-none-"))
    if len(password) > 10:
        assert password not in answer.text + capsys.readouterr().out


def test_passwords_and_tokens_are_in_no_log(
    team: Team, send: Send, capsys: pytest.CaptureFixture[str]
) -> None:
    team.person(Role.ADMIN)
    tokens = team.sign_in()
    credentials = {"tenant": "acme", "email": "maya@example.com", "password": PASSWORD}
    send("POST", "/api/v1/auth/login", credentials)
    send("POST", "/api/v1/auth/login", {**credentials, "password": f"{PASSWORD} wrong"})
    send("POST", "/api/v1/auth/refresh", {"refresh_token": tokens.refresh_token})
    send("GET", "/api/v1/auth/me", bearer=tokens.access_token)
    send("GET", "/api/v1/auth/me", bearer=f"{tokens.access_token}x")
    logged = capsys.readouterr().out
    assert "request_done" in logged
    for secret in (PASSWORD, tokens.refresh_token, tokens.access_token):
        assert secret not in logged
