"""Crawl configs through their API routes."""

from types import SimpleNamespace
from typing import Any

import pytest

from crawl.configs_routes import router
from spinneret.crawl.configs.api_models import ConfigRequest
from spinneret.redaction import MARK
from spinneret.web.proxies.models import RotationStrategy
from spinneret.web.proxies.service import ConfigDraft, ServerDraft
from tests.fakes.crawling import CrawlWorld
from tests.unit.served import Served

PATH = "/api/v1/configs"


@pytest.fixture
def world() -> CrawlWorld:
    return CrawlWorld()


@pytest.fixture
def api(world: CrawlWorld) -> Served:
    return Served(router, SimpleNamespace(configs=world.configs.service))


# covers C-10
def test_a_config_is_made_read_changed_and_deleted(api: Served) -> None:
    made = api.send("POST", PATH, {"name": " slow "})
    assert made.status == 201
    assert made.body == {
        "config_id": "config_0001",
        "name": "slow",
        "max_depth": 0,
        "rate_limit_rps": 1.0,
        "respect_robots_txt": True,
        "headers": {},
        "extraction_strategy": "markdown",
        "keep_link_targets": True,
        "chunking_strategy": "sliding_window",
        "chunk_size": 512,
        "chunk_overlap": 50,
        "min_chunk_size": 50,
        "page_timeout_ms": 30000,
        "max_page_size_mb": 50,
        "max_redirects": 10,
        "proxy_config_id": None,
        "render": False,
        "wait_for": None,
        "wait_seconds": 0.0,
        "is_default": False,
        "created_at": made.body["created_at"],
        "updated_at": made.body["created_at"],
    }
    one = f"{PATH}/{made.body['config_id']}"
    assert api.send("GET", one).body == made.body
    changed = api.send("PUT", one, {"name": "fast", "rate_limit_rps": 5, "is_default": True})
    assert (changed.status, changed.body["name"], changed.body["rate_limit_rps"]) == (
        200,
        "fast",
        5,
    )
    assert api.send("GET", PATH).body["items"] == [changed.body]
    assert api.send("GET", one, tenant="globex").status == 404
    assert api.send("DELETE", one).status == 204
    assert api.send("GET", one).status == 404


def test_a_name_is_the_tenants_only_one(api: Served) -> None:
    api.send("POST", PATH, {"name": "slow"})
    refused = api.send("POST", PATH, {"name": "slow"})
    assert refused.status == 409
    assert [each["path"] for each in refused.body["details"]["fields"]] == ["name"]
    assert api.send("POST", PATH, {"name": "slow"}, tenant="globex").status == 201


# covers C-10
def test_at_most_one_config_is_the_default(api: Served) -> None:
    for name in ("one", "two"):
        api.send("POST", PATH, {"name": name, "is_default": True})
    items = api.send("GET", PATH).body["items"]
    assert {each["name"]: each["is_default"] for each in items} == {"one": False, "two": True}


def test_a_config_in_use_is_not_deleted(api: Served, world: CrawlWorld) -> None:
    config_id = api.send("POST", PATH, {"name": "slow"}).body["config_id"]
    world.configs.store.rows.references["acme", config_id] = 1
    refused = api.send("DELETE", f"{PATH}/{config_id}")
    assert (refused.status, refused.body["code"]) == (409, "CONFLICT")


def test_secrets_in_headers_are_not_shown_and_stay_where_headers_are_left_out(
    api: Served, world: CrawlWorld
) -> None:
    headers = {"Authorization": "Bearer s3cr3t-t0ken-of-acme", "Accept-Language": "de"}
    made = api.send("POST", PATH, {"name": "in", "headers": headers})
    assert "s3cr3t" not in made.text
    assert made.body["headers"]["Accept-Language"] == "de"
    one = f"{PATH}/{made.body['config_id']}"
    api.send("PUT", one, {"name": "other"})
    kept = world.configs.service.get("acme", made.body["config_id"])
    assert world.configs.seal.open("acme", kept.sealed_headers) == headers
    shown = api.send("PUT", one, {"name": "in", "headers": made.body["headers"]})
    assert shown.status == 422
    assert api.send("PUT", one, {"name": "in", "headers": {}}).body["headers"] == {}


def test_headers_default_to_none_at_all(api: Served) -> None:
    assert ConfigRequest.model_json_schema()["properties"]["headers"]["default"] == {}
    refused = api.send("POST", PATH, {"name": "one", "headers": None})
    assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "other.example"},
        {"content-length": "1"},
        {"Accept-Encoding": "br"},
        {"Range": "bytes=0-1"},
        {"X Y": "1"},
        {"X": "a\nb"},
        {"X": ""},
        {"x": "1", "X": "2"},
        {"X": MARK},
        {"User-Agent": "Other/1.0"},
        {f"X-{number}": "1" for number in range(21)},
        {"X": "a" * 4096},
    ],
)
def test_headers_that_a_config_may_not_choose_are_refused(
    api: Served, headers: dict[str, str]
) -> None:
    refused = api.send("POST", PATH, {"name": "one", "headers": headers})
    assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")
    assert refused.body["details"]["fields"][0]["path"].startswith("headers")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a" * 101},
        {"max_depth": -1},
        {"max_depth": 101},
        {"max_depth": "1"},
        {"rate_limit_rps": 0},
        {"rate_limit_rps": 101},
        {"respect_robots_txt": "no"},
        {"headers": {"X": 1}},
        {"extraction_strategy": "css"},
        {"keep_link_targets": "no"},
        {"chunking_strategy": "by_block"},
        {"chunk_size": 15},
        {"chunk_size": 8193},
        {"chunk_overlap": -1},
        {"chunk_overlap": 257},
        {"min_chunk_size": 0},
        {"min_chunk_size": 513},
        {"page_timeout_ms": 99},
        {"page_timeout_ms": 30001},
        {"max_page_size_mb": 0},
        {"max_page_size_mb": 51},
        {"max_redirects": -1},
        {"max_redirects": 11},
        {"proxy_config_id": "proxy_unknown"},
        {"is_default": 1},
        {"colour": "red"},
    ],
)
def test_what_is_out_of_range_is_refused_by_its_field(api: Served, wrong: dict[str, Any]) -> None:
    refused = api.send("POST", PATH, {"name": "one", **wrong})
    assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")
    if set(wrong) & {"chunk_overlap", "min_chunk_size"}:
        return  # the error concerns two fields together
    [field, *_] = refused.body["details"]["fields"]
    assert field["path"].split(".")[0] in wrong


def test_a_proxy_that_there_is_can_be_chosen(api: Served, world: CrawlWorld) -> None:
    server = ServerDraft(url="http://proxy.example:31")
    draft = ConfigDraft(
        name="main", servers=(server,), strategy=RotationStrategy.RANDOM, is_active=True
    )
    proxy = world.proxies.service.create("acme", draft)
    made = api.send("POST", PATH, {"name": "one", "proxy_config_id": proxy.id})
    assert (made.status, made.body["proxy_config_id"]) == (201, proxy.id)
