"""The routes of proxies."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from crawl.proxies_routes import router
from spinneret.kernel.errors import ProxyFailed
from spinneret.web.proxies import limits
from tests.fakes.fetching import fetched_page
from tests.fakes.proxies import Proxies
from tests.unit.runtime.api import Answer
from tests.unit.runtime.refusals import fields_of
from tests.unit.served import Served

PROXIES = "/api/v1/proxies"
URL = "https://site.example/page"
NOW = "2026-01-02T12:00:00.000000Z"
SERVERS = [
    {"url": "http://Proxy.example:3128", "username": "spider", "password": "silk"},
    {"url": "https://proxy.example"},
]
SHOWN = [
    {"url": "http://proxy.example:3128", "has_credentials": True},
    {"url": "https://proxy.example:443", "has_credentials": False},
]


@pytest.fixture
def routes(proxies: Proxies) -> Served:
    return Served(router, SimpleNamespace(proxies=proxies.service, proxy_trials=proxies.trials))


def create(routes: Served, tenant: str = "acme", **fields: Any) -> Answer:
    body = {"name": "main", "servers": SERVERS, **fields}
    return routes.send("POST", PROXIES, body, tenant=tenant)


def path_of(created: Answer) -> str:
    assert created.status == 201, created.text
    return f"{PROXIES}/{created.body['proxy_id']}"


def refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    body: dict[str, Any] = answer.body
    assert (answer.status, body["code"]) == (status, code), answer.text
    return body


# ---------------------------------------------------------------- Configs


def test_a_config_is_created_shown_and_listed_without_its_credentials(routes: Served) -> None:
    created = create(routes)
    expected = {
        "proxy_id": created.body["proxy_id"],
        "name": "main",
        "servers": SHOWN,
        "rotation_strategy": "round_robin",
        "is_active": True,
        "created_at": NOW,
        "updated_at": NOW,
    }
    assert (created.status, created.body) == (201, expected)
    shown = routes.send("GET", path_of(created))
    assert shown.body == {
        **expected,
        "servers": [{**server, "failures": 0, "resting": False} for server in SHOWN],
    }
    listed = routes.send("GET", PROXIES)
    assert listed.body == {"items": [expected], "next_cursor": None, "has_more": False}
    for answer in (created, shown, listed):
        assert "spider" not in answer.text
        assert "silk" not in answer.text


def test_a_config_shows_how_its_servers_do(routes: Served, proxies: Proxies) -> None:
    path = path_of(create(routes))
    config = proxies.service.page("acme", None, 1).items[0]
    for _ in range(3):
        proxies.rotation.report(proxies.rotation.route(config, 1), succeeded=False)
    servers = routes.send("GET", path).body["servers"]
    assert [(each["failures"], each["resting"]) for each in servers] == [(0, False), (3, True)]


def test_a_config_is_replaced_and_keeps_credentials_that_are_left_out(routes: Served) -> None:
    path = path_of(create(routes))
    body = {
        "name": "other",
        "servers": [{"url": server["url"]} for server in SERVERS],
        "rotation_strategy": "least_used",
        "is_active": False,
    }
    replaced = routes.send("PUT", path, body)
    assert (replaced.status, replaced.body["servers"]) == (200, SHOWN)
    assert (replaced.body["name"], replaced.body["is_active"]) == ("other", False)
    assert replaced.body["rotation_strategy"] == "least_used"
    body["servers"] = [{"url": server["url"], "username": None} for server in SERVERS]
    ended = routes.send("PUT", path, body).body["servers"]
    assert [server["has_credentials"] for server in ended] == [False, False]


def test_a_deleted_config_is_gone(routes: Served) -> None:
    path = path_of(create(routes))
    deleted = routes.send("DELETE", path)
    assert (deleted.status, deleted.text) == (204, None)
    for method in ("GET", "DELETE"):
        refused(routes.send(method, path), 404, "NOT_FOUND")
    assert create(routes).status == 201


def test_a_name_is_taken_once(routes: Served) -> None:
    create(routes)
    refused(create(routes, name=" main "), 409, "CONFLICT")
    path = path_of(create(routes, name="other"))
    answer = routes.send("PUT", path, {"name": "main", "servers": SERVERS})
    refused(answer, 409, "CONFLICT")


def test_an_idempotency_key_is_refused_rather_than_ignored(routes: Served) -> None:
    answer = routes.send(
        "POST",
        PROXIES,
        {"name": "main", "servers": SERVERS},
        headers={"idempotency-key": "k"},
    )
    assert fields_of(refused(answer, 422, "VALIDATION_ERROR")) == ["Idempotency-Key"]


SECRET = "s3cr3t-silk"
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": "  "}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"servers": []}, "servers"),
    ({"servers": [{"url": "http://a.example:1"}] * 51}, "servers"),
    ({"servers": [{}]}, "servers.0.url"),
    ({"servers": [{"url": ""}]}, "servers.0.url"),
    ({"servers": [{"url": f"http://spider:{SECRET}@a.example:1"}]}, "servers.0.url"),
    ({"servers": [{"url": f"http://a.example:1/{SECRET}"}]}, "servers.0.url"),
    ({"servers": [*SERVERS, {"url": "socks5://a.example:1"}]}, "servers.2.url"),
    ({"servers": [{"url": "http://a.example", "username": ""}]}, "servers.0.username"),
    ({"servers": [{"url": "http://a.example", "username": f"a:{SECRET}"}]}, "servers.0.username"),
    ({"servers": [{"url": "http://a.example", "username": "a\n"}]}, "servers.0.username"),
    ({"servers": [{"url": "http://a.example", "username": "x" * 256}]}, "servers.0.username"),
    (
        {"servers": [{"url": "http://a.example", "username": "a", "password": f"{SECRET}\r\n"}]},
        "servers.0.password",
    ),
    ({"servers": [{"url": "http://a.example", "password": SECRET}]}, "servers.0"),
    ({"servers": [{"url": "http://a.example", "has_credentials": True}]}, None),
    ({"rotation_strategy": "sticky"}, "rotation_strategy"),
    ({"is_active": "yes"}, "is_active"),
    ({"version": 7}, "version"),
]


@pytest.mark.parametrize(("fields", "named"), INVALID, ids=[f"{f!r:.60}" for f, _ in INVALID])
def test_what_a_config_can_not_be_is_refused_without_repeating_it(
    routes: Served, caplog: pytest.LogCaptureFixture, fields: dict[str, Any], named: str | None
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = create(routes, **fields)
    found = fields_of(refused(answer, 422, "VALIDATION_ERROR"))
    assert found == [named or "servers.0.has_credentials"]
    assert SECRET not in answer.text + caplog.text
    assert routes.send("GET", PROXIES).body["items"] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"servers": [{"url": f"http://a.example:{port}"} for port in range(1, 51)]},
        {"servers": [{"url": "http://a.example", "username": "u" * 255, "password": "p" * 255}]},
        {"servers": [{"url": "http://a.example", "username": "a", "password": ""}]},
        {"servers": [{"url": "http://a.example", "username": "a"}] * 2},
        {"name": "x" * limits.PROXY_NAME_MAX_CHARS, "rotation_strategy": "random"},
    ],
)
def test_configs_at_their_bounds_are_taken(routes: Served, fields: dict[str, Any]) -> None:
    assert create(routes, **fields).status == 201


def test_a_list_goes_from_page_to_page(routes: Served) -> None:
    names = [f"name {number}" for number in range(5)]
    for name in names:
        create(routes, name=name)
    found: list[str] = []
    query: dict[str, Any] = {}
    while True:
        page = routes.send("GET", PROXIES, limit="2", **query).body
        found += [item["name"] for item in page["items"]]
        if not page["has_more"]:
            break
        query = {"cursor": page["next_cursor"]}
    assert found == names[::-1]


def test_tenants_see_and_change_their_own_configs_only(routes: Served) -> None:
    path = path_of(create(routes))
    body = {"name": "mine now", "servers": [{"url": "http://evil.example"}]}
    foreign = [
        routes.send("GET", path, tenant="other"),
        routes.send("PUT", path, body, tenant="other"),
        routes.send("DELETE", path, tenant="other"),
        routes.send(
            "POST",
            f"{PROXIES}/test",
            {"url": URL, "proxy_id": path.rpartition("/")[2]},
            tenant="other",
        ),
    ]
    unknown = routes.send("GET", f"{PROXIES}/proxy_unknown", tenant="other")
    for answer in foreign:
        assert refused(answer, 404, "NOT_FOUND") == unknown.body
    assert routes.send("GET", PROXIES, tenant="other").body["items"] == []
    assert routes.send("GET", path).body["name"] == "main"
    assert create(routes, tenant="other").status == 201


# ---------------------------------------------------------------- Trials


def test_a_server_is_tried_without_being_stored(routes: Served, proxies: Proxies) -> None:
    proxies.pages[URL] = fetched_page(URL)
    answer = routes.send("POST", f"{PROXIES}/test", {"url": URL, "server": SERVERS[0]})
    assert answer.status == 200
    assert answer.body == {
        "server": "http://proxy.example:3128",
        "reachable": True,
        "status_code": 200,
        "latency_ms": 1,
        "error": None,
    }
    assert routes.send("GET", PROXIES).body["items"] == []


# covers F-08
def test_a_server_of_a_config_is_tried(routes: Served, proxies: Proxies) -> None:
    proxy_id = create(routes).body["proxy_id"]
    proxies.ways.broken[443] = ProxyFailed(
        "the proxy refused the credentials", details={"status_code": 407}
    )
    body = {"url": URL, "proxy_id": proxy_id, "position": 1}
    answer = routes.send("POST", f"{PROXIES}/test", body)
    assert answer.status == 200
    assert answer.body == {
        "server": "https://proxy.example:443",
        "reachable": False,
        "status_code": None,
        "latency_ms": None,
        "error": {"error": "the proxy refused the credentials", "code": "PROXY_FAILED"},
    }


@pytest.mark.parametrize(
    "body",
    [
        {"url": URL},
        {"url": URL, "proxy_id": "proxy_1", "server": SERVERS[0]},
        {"proxy_id": "proxy_1"},
        {"url": URL, "proxy_id": "proxy_1", "position": 50},
        {"url": URL, "proxy_id": "proxy_1", "position": -1},
    ],
)
def test_a_malformed_trial_is_refused(routes: Served, body: dict[str, Any]) -> None:
    refused(routes.send("POST", f"{PROXIES}/test", body), 422, "VALIDATION_ERROR")


@pytest.mark.parametrize("url", ["http://10.0.0.1:3128", "http://localhost", "http://b.example:22"])
def test_a_server_that_must_not_be_reached_is_blocked(routes: Served, url: str) -> None:
    trial = routes.send("POST", f"{PROXIES}/test", {"url": URL, "server": {"url": url}})
    assert [each["path"] for each in refused(trial, 403, "URL_BLOCKED")["details"]["fields"]] == [
        "server.url"
    ]
    config = create(routes, servers=[*SERVERS, {"url": url}])
    assert [each["path"] for each in refused(config, 403, "URL_BLOCKED")["details"]["fields"]] == [
        "servers.2.url"
    ]
    assert routes.send("GET", PROXIES).body["items"] == []


def test_a_trial_beyond_the_pace_says_when_to_come_back(routes: Served, proxies: Proxies) -> None:
    proxies.pages[URL] = fetched_page(URL)
    body = {"url": URL, "server": SERVERS[1]}
    answers = [routes.send("POST", f"{PROXIES}/test", body) for _ in range(6)]
    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[-1].headers["Retry-After"] == "1"
