"""People of a tenant: they are invited, sign in, are limited to their roles, and sign out."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import jwt
import pytest

from spinneret.access.users.bootstrap import invite
from spinneret.access.wiring import rotation_in
from tests.e2e.conftest import Deployed
from tests.e2e.website import Website
from tests.waiting import waited

pytestmark = pytest.mark.stack

PASSWORD = "a password of some length"
ROUNDS_AFTER = 10
"""Number of requests of each thread after the rotation."""
Call = Callable[..., httpx.Response]
Team = Mapping[str, tuple[str, dict[str, Any]]]
"""Tenant and response to the sign-in, by role."""


@pytest.fixture(scope="module")
def call(deployed: Deployed) -> Call:
    """Provide a function that sends a request, with an access token or without credentials."""

    def send(method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"{deployed.api_url}{path}"
        return httpx.request(method, url, json=body, headers=headers, timeout=40, trust_env=False)

    return send


@pytest.fixture(scope="module")
def team(deployed: Deployed, call: Call) -> Team:
    """Provide a seller and a viewer, and the administrator who invited them; all have signed in."""
    tenant = f"t-{uuid4().hex[:12]}"
    table = deployed.outputs["TenancyTable"]
    clients = deployed.aws.dynamodb(), deployed.aws("kms")
    email = "admin@example.com"
    invitation = invite(*clients, table=table, stage="local", tenant=tenant, email=email)
    people: dict[str, tuple[str, dict[str, Any]]] = {}
    for role in ("admin", "seller", "viewer"):
        email = f"{role}@example.com"
        if role != "admin":
            wanted = {"email": email.upper(), "name": role, "role": role}
            answer = call("POST", "/api/v1/users", wanted, people["admin"][1]["access_token"])
            assert answer.status_code == 201, answer.text
            invitation = answer.json()["invitation"]
        chosen = {"invitation": invitation, "password": PASSWORD}
        answer = call("POST", "/api/v1/auth/accept", chosen)
        assert answer.status_code == 200, answer.text
        credentials = {"tenant": tenant, "email": email, "password": PASSWORD}
        answer = call("POST", "/api/v1/auth/login", credentials)
        assert answer.status_code == 200, answer.text
        people[role] = (tenant, answer.json())
    return people


# covers T-02, T-03
def test_each_role_passes_where_its_permissions_lead(team: Team, call: Call) -> None:
    found = {}
    for role, (tenant, tokens) in team.items():
        token = tokens["access_token"]
        me = call("GET", "/api/v1/auth/me", token=token)
        assert me.status_code == 200, me.text
        assert (me.json()["kind"], me.json()["role"], me.json()["tenant"]) == ("user", role, tenant)
        requests = {
            "products": ("GET", "/api/products", None),
            "sell": ("POST", "/api/products", {}),
            "crawl": ("POST", "/api/v1/crawl", {}),
            "users": ("GET", "/api/v1/users", None),
            "targets": ("GET", "/v1/targets", None),
        }
        found[role] = {
            name: call(*request, token=token).status_code for name, request in requests.items()
        }
    assert found == {
        "admin": {"products": 200, "sell": 422, "crawl": 422, "users": 200, "targets": 200},
        "seller": {"products": 200, "sell": 422, "crawl": 403, "users": 403, "targets": 200},
        "viewer": {"products": 200, "sell": 403, "crawl": 403, "users": 403, "targets": 200},
    }


# covers T-02
def test_two_refreshes_at_once_get_one_successor_and_sign_out_ends_it(
    team: Team, call: Call
) -> None:
    token = team["viewer"][1]["refresh_token"]

    def refresh(_: int) -> httpx.Response:
        return call("POST", "/api/v1/auth/refresh", {"refresh_token": token})

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(refresh, range(2)))
    assert [each.status_code for each in answers] == [200, 200]
    [successor] = {each.json()["refresh_token"] for each in answers}
    assert successor != token
    ended = call("POST", "/api/v1/auth/logout", {"refresh_token": successor, "all": True})
    assert ended.status_code == 200, ended.text
    again = call("POST", "/api/v1/auth/refresh", {"refresh_token": successor})
    assert again.status_code == 401


# covers T-02
def test_a_browser_signs_in_by_a_cookie_and_the_trail_shows_it(
    deployed: Deployed, team: Team, call: Call
) -> None:
    """The client treats the cookie as a browser does: by its attributes, only below its path."""
    tenant, tokens = team["seller"]
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(deployed.api_url))
    with httpx.Client(timeout=40, trust_env=False, headers={"Origin": origin}) as browser:

        def send(path: str, body: Any) -> httpx.Response:
            return browser.post(f"{deployed.api_url}/api/v1/auth/{path}", json=body)

        credentials = {"tenant": tenant, "email": "seller@example.com", "password": PASSWORD}
        signed_in = send("login", {**credentials, "cookie": True})
        assert (signed_in.status_code, signed_in.json()["refresh_token"]) == (200, None)
        [cookie] = browser.cookies.jar
        assert cookie.path == f"{urlsplit(deployed.api_url).path}/api/v1/auth"
        refreshed = send("refresh", {})
        assert (refreshed.status_code, refreshed.json()["refresh_token"]) == (200, None)
        foreign = {"Origin": "https://evil.example"}
        url = f"{deployed.api_url}/api/v1/auth/refresh"
        assert browser.post(url, json={}, headers=foreign).status_code == 403
        assert send("logout", {}).status_code == 200
        assert list(browser.cookies.jar) == []
    access_token = team["admin"][1]["access_token"]
    events = call("GET", "/api/v1/auth/events?limit=2", token=access_token).json()["items"]
    assert [each["type"] for each in events] == ["user.signed_out", "user.signed_in"]
    assert call("GET", "/api/v1/auth/events", token=tokens["access_token"]).status_code == 403


# covers P-01
def test_a_job_names_the_person_who_submitted_it(team: Team, call: Call, website: Website) -> None:
    token = team["admin"][1]["access_token"]
    me = call("GET", "/api/v1/auth/me", token=token).json()["id"]
    job_id = call("POST", "/api/v1/crawl", {"url": website.url}, token).json()["job_id"]
    job = call("GET", f"/api/v1/jobs/{job_id}", token=token)
    assert (job.status_code, job.json()["created_by"]) == (200, me)


# covers T-02
def test_a_rotation_under_load_refuses_no_request(
    deployed: Deployed, team: Team, call: Call
) -> None:
    """Threads send requests, refreshes and sign-ins while the stage gets a new key."""
    tenant, tokens = team["admin"]
    credentials = {"tenant": tenant, "email": "admin@example.com", "password": PASSWORD}
    table = deployed.outputs["TenancyTable"]
    rotation = rotation_in(deployed.aws.dynamodb(), table, deployed.aws("kms"), "local")
    published = len(call("GET", "/.well-known/jwks.json").json()["keys"])
    is_rotated = Event()

    def reads() -> int:
        return call("GET", "/api/v1/auth/me", token=tokens["access_token"]).status_code

    def signs_in() -> int:
        made = call("POST", "/api/v1/auth/login", credentials)
        assert made.status_code == 200, made.text
        given = {"refresh_token": made.json()["refresh_token"]}
        refreshed = call("POST", "/api/v1/auth/refresh", given)
        assert refreshed.status_code == 200, refreshed.text
        token = refreshed.json()["access_token"]
        return call("GET", "/api/v1/auth/me", token=token).status_code

    def work(request: Callable[[], int]) -> list[int]:
        statuses: list[int] = []
        left = ROUNDS_AFTER
        while left:
            left -= is_rotated.is_set()
            statuses.append(request())
        return statuses

    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(work, request) for request in (reads, reads, signs_in)]
        assert rotation.run(at_once=True).created == 1
        is_rotated.set()
        statuses = [status for run in runs for status in run.result()]
    assert set(statuses) == {200}
    _shown(call, published + 1)


def _shown(call: Call, keys: int) -> None:
    """Wait until the stage publishes `keys` keys: processes cache them for a minute."""
    waited(
        lambda: len(call("GET", "/.well-known/jwks.json").json()["keys"]) == keys,
        seconds=90,
        pause=1,
    )


# covers T-02
def test_the_published_keys_verify_the_tokens(team: Team, call: Call) -> None:
    answer = call("GET", "/.well-known/jwks.json")
    token = team["admin"][1]["access_token"]
    key = jwt.PyJWKSet.from_dict(answer.json())[jwt.get_unverified_header(token)["kid"]]
    claims = jwt.decode(token, key, algorithms=["RS256"], audience="spinneret-api")
    assert (claims["role"], claims["iss"]) == ("admin", "spinneret")
    assert "max-age" in answer.headers["Cache-Control"]
