"""Discovery jobs through their API routes."""

from typing import Any

import pytest

from crawl.discover_routes import router
from tests.fakes.discovering import DiscoveryWorld
from tests.fakes.fetching import fetched_page
from tests.unit.served import Served

PATH = "/api/v1/discover"
SITE = "https://site.example"


@pytest.fixture
def site() -> DiscoveryWorld:
    world = DiscoveryWorld()
    urls = "\n".join(f"{SITE}/page-{n:03}" for n in range(250))
    name = f"{SITE}/sitemap.xml"
    world.pages[name] = fetched_page(name, urls, media_type="text/plain")
    return world


@pytest.fixture
def api(site: DiscoveryWorld) -> Served:
    return Served(router, site.service)


def test_a_discovery_is_submitted_and_its_result_read_page_by_page(
    api: Served, site: DiscoveryWorld
) -> None:
    made = api.send("POST", PATH, {"domain": "site.example"})
    assert (made.status, made.body["status"], made.body["message"]) == (202, "pending", "accepted")
    one = f"{PATH}/{made.body['job_id']}"
    waiting = api.send("GET", one).body
    assert (waiting["status"], waiting["urls_found"], waiting["result"]) == ("pending", 0, [])
    site.settle(site.queue.sent[0].ref)
    urls: list[str] = []
    query: dict[str, str] = {}
    while True:
        page = api.send("GET", one, limit="99", **query).body
        assert (page["status"], page["urls_found"]) == ("completed", 250)
        urls += [each["url"] for each in page["result"]]
        if not page["has_more"]:
            assert page["next_cursor"] is None
            break
        query = {"cursor": page["next_cursor"]}
    assert urls == [f"{SITE}/page-{n:03}" for n in range(250)]
    assert api.send("GET", one, tenant="globex").status == 404
    assert api.send("GET", one, cursor="bad").status == 422


def test_a_discovery_shows_what_was_asked_for(api: Served) -> None:
    asked = {
        "domain": "site.example",
        "sources": ["common_crawl", "sitemap"],
        "pattern": "/guide/**",
        "max_urls": 7,
        "score_query": "orb webs",
        "score_threshold": 0.25,
    }
    made = api.send("POST", PATH, asked).body["job_id"]
    shown = api.send("GET", f"{PATH}/{made}").body
    assert {name: shown[name] for name in asked} == asked


# covers C-07
def test_urls_are_scored(api: Served) -> None:
    urls = [f"{SITE}/silk", "no url", f"{SITE}/imprint"]
    scored = api.send("POST", f"{PATH}/score", {"urls": urls, "query": "silk"})
    assert scored.status == 200
    assert [each["url"] for each in scored.body["scores"]] == urls
    assert [each["score"] for each in scored.body["scores"]] == [1.0, None, 0.0]
    assert scored.body["scores"][1]["error"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"domain": ""},
        {"sources": []},
        {"sources": ["rss"]},
        {"max_urls": 0},
        {"max_urls": 501},
        {"score_query": ""},
        {"score_query": "a" * 1001},
        {"score_threshold": 1.1},
        {"pattern": ""},
        {"depth": 1},
    ],
)
def test_what_is_out_of_range_is_refused_by_its_field(api: Served, wrong: dict[str, Any]) -> None:
    refused = api.send("POST", PATH, {"domain": "site.example", **wrong})
    assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")
    [name] = wrong
    assert refused.body["details"]["fields"][0]["path"].startswith(name)


def test_the_site_may_be_called_url(api: Served) -> None:
    made = api.send("POST", PATH, {"url": "site.example"})
    assert made.status == 202
    assert api.send("GET", f"{PATH}/{made.body['job_id']}").body["domain"] == "site.example"
    for wrong, named in (({}, "domain"), ({"domain": "a.example", "url": "b.example"}, "url")):
        refused = api.send("POST", PATH, wrong)
        assert (refused.status, refused.body["details"]["fields"][0]["path"]) == (422, named)


def test_a_switched_off_feature_answers_as_one(api: Served, site: DiscoveryWorld) -> None:
    site.enabled = False
    off = Served(router, site.service)
    for method, path, body in (
        ("POST", PATH, {"domain": "site.example"}),
        ("POST", f"{PATH}/score", {"urls": [SITE], "query": "silk"}),
        ("GET", f"{PATH}/job_1", None),
    ):
        refused = off.send(method, path, body)
        assert (refused.status, refused.body["code"]) == (404, "FEATURE_DISABLED")
