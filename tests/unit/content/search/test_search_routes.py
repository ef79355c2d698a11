"""Searches through their API routes."""

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from search.search_routes import router
from spinneret.content.tags.service import TagService
from spinneret.kernel.paging import Page
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import HandClock
from tests.sampling import sampled, spread
from tests.unit.content.search.searching import CachedSearch
from tests.unit.served import Served

PATH = "/api/v1/search"


@pytest.fixture
def world() -> CachedSearch:
    made = CachedSearch()
    made.add("doc_1", "Spiders weave silk.", collection_id="col_1")
    made.add("doc_2", "Silk worms spin, too.")
    return made


@pytest.fixture
def tags() -> TagService:
    numbers = itertools.count(1)
    return TagService(
        store=FakeNamedStore(Page),
        clock=HandClock(),
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
    )


@pytest.fixture
def api(world: CachedSearch, tags: TagService) -> Served:
    return Served(router, SimpleNamespace(search=world.service(), tags=tags))


def found(answer: Any) -> list[str]:
    assert answer.status == 200, answer.body
    return [each["document_id"] for each in answer.body["results"]]


# covers S-02
def test_a_hybrid_search_explains_its_hits(api: Served) -> None:
    answer = api.send("POST", PATH, {"query": "Spiders' silk", "limit": 1, "expand_chunks": True})
    [hit] = answer.body["results"]
    assert (hit["document_id"], hit["source"]) == ("doc_1", "fused")
    assert (hit["vector_rank"], hit["keyword_rank"]) == (1, 1)
    marked = [hit["content"][start:end] for start, end in hit["highlights"]]
    assert marked == ["Spiders", "silk"]
    body = answer.body
    assert (body["fusion"], body["total_count"], body["degraded"]) == ("confidence", 2, False)
    assert body["latency_ms"] >= 0
    assert {"embed", "index", "versions", "chunks"} <= set(body["timings"])
    second = api.send(
        "POST",
        PATH,
        {
            "query": "Spiders' silk",
            "limit": 1,
            "expand_chunks": True,
            "cursor": body["next_cursor"],
        },
    )
    assert found(second) == ["doc_2"]


# covers S-02
@pytest.mark.parametrize("leg", ["vector", "keyword"])
def test_one_leg_can_be_asked_alone(api: Served, leg: str) -> None:
    answer = api.send("POST", f"{PATH}/{leg}", {"query": "silk spiders"})
    assert answer.body["fusion"] is None
    assert {each["source"] for each in answer.body["results"]} == {leg}
    assert found(answer)[0] == "doc_1"


@pytest.mark.parametrize("leg", ["vector", "keyword"])
def test_one_leg_takes_the_fields_of_both_and_those_of_fusion_have_no_effect(
    api: Served, leg: str
) -> None:
    plain = api.send("POST", f"{PATH}/{leg}", {"query": "silk spiders"})
    body = {"fusion": "rrf", "rrf_k": 1, "vector_weight": 0.5, "keyword_weight": 3.0}
    answer = api.send("POST", f"{PATH}/{leg}", {"query": "silk spiders", **body})
    assert (answer.status, answer.body["fusion"]) == (200, None)
    assert answer.body["results"] == plain.body["results"]
    assert api.send("POST", f"{PATH}/{leg}", {"query": "silk", "rrf_k": 0}).status == 422


@pytest.mark.parametrize("path", [PATH, f"{PATH}/vector", f"{PATH}/keyword"])
def test_tags_are_named_beside_their_ids(
    api: Served, world: CachedSearch, tags: TagService, path: str
) -> None:
    red, blue = (tags.create("acme", name).id for name in ("red", "blue"))
    world.add("doc_3", "Silk of one.", tag_ids=(red,))
    world.add("doc_4", "Silk of two.", tag_ids=(blue,))
    assert found(api.send("POST", path, {"query": "silk", "tags": ["Red"]})) == ["doc_3"]
    both = api.send("POST", path, {"query": "silk", "tags": ["red", "red"], "tag_ids": [blue]})
    assert sorted(found(both)) == ["doc_3", "doc_4"]


def test_a_tag_that_does_not_exist_is_refused_by_its_name(api: Served, tags: TagService) -> None:
    tags.create("acme", "red")
    refused = api.send("POST", PATH, {"query": "silk", "tags": ["red", "rad"]})
    assert refused.status == 422
    [field] = refused.body["details"]["fields"]
    assert (field["path"], field["hint"]) == ("tags.1", "GET /api/v1/tags lists the names")


def test_null_is_no_filter(api: Served) -> None:
    names = (
        "collection_ids", "tag_ids", "tags", "domains", "source_types", "languages",
        "content_types", "date_from", "date_to", "cursor",
    )  # fmt: skip
    body = {"query": "spiders silk", **dict.fromkeys(names)}
    assert found(api.send("POST", PATH, body)) == ["doc_1", "doc_2"]


@pytest.mark.parametrize("fusion", ["rrf", "min_max", "auto"])
def test_the_answer_names_the_fusion(api: Served, fusion: str) -> None:
    answer = api.send("POST", PATH, {"query": "silk", "fusion": fusion})
    assert answer.body["fusion"] == ("confidence" if fusion == "auto" else fusion)


# covers S-02
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"collection_ids": ["col_1"]}, ["doc_1"]),
        ({"collection_ids": ["col_1", "col_2"], "domains": ["SITE.example"]}, ["doc_1"]),
        ({"domains": ["\uff53ite.example"], "collection_ids": ["col_1"]}, ["doc_1"]),
        ({"tag_ids": ["tag_1"]}, []),
        ({"source_types": ["api"]}, []),
        ({"source_types": ["crawl", "upload"], "collection_ids": ["col_1"]}, ["doc_1"]),
        ({"languages": ["DE"]}, []),
        ({"content_types": ["code"]}, []),
        ({"date_from": "2026-01-03T00:00:00Z"}, []),
        ({"date_to": "2026-01-02T13:00:00+01:00", "collection_ids": ["col_1"]}, ["doc_1"]),
    ],
)
def test_filters_hold(api: Served, filters: dict[str, Any], expected: list[str]) -> None:
    assert found(api.send("POST", PATH, {"query": "spiders silk", **filters})) == expected


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": " \u0000\n"},
        {"query": "x" * 1001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "limit": "5"},
        {"query": "x", "fusion": "confidence"},
        {"query": "x", "vector_weight": 0, "keyword_weight": 0},
        {"query": "x", "vector_weight": -1},
        {"query": "x", "date_from": "2026-01-01T00:00:00"},
        {"query": "x", "date_from": "0001-01-01T00:00:00+01:00"},
        {"query": "x", "date_to": "9999-12-31T23:59:59-01:00"},
        {"query": "x", "date_from": "2026-02-01T00:00:00Z", "date_to": "2026-01-01T00:00:00Z"},
        {"query": "x", "languages": ["english"]},
        {"query": "x", "domains": ["x"] * 51},
        {"query": "x", "cursor": "nonsense"},
        {"query": "x", "colour": "red"},
    ],
)
def test_what_is_no_search_is_refused(api: Served, body: dict[str, Any]) -> None:
    refused = api.send("POST", PATH, body)
    assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")


INJECTIONS = [
    *(f"silk{mark}" for mark in "\"\\*?~^:()[]{}+-!/|&<>=,;#%$@`'"),
    *("silk AND tenant:*", "_exists_:tenant", "*:*", "silk OR 1=1", "silk'); DROP TABLE x;--"),
    *(
        '{"match_all": {}} silk',
        '"}},{"match_all":{}} silk',
        "silk\n{}\n{}",
        "${jndi:ldap://x} silk",
    ),
    *("<script>silk</script>", "{{7*7}} silk", "silk\u202e", "silk\ud800", "\ufdd0silk\ufdd1"),
    *("silk\u0000", "silk " * 200, "蚕" * 1000, "🕷" * 500, "e\u0301" * 500, "\u200b\u00adsilk"),
]


@pytest.mark.parametrize(
    "query", sampled(spread(INJECTIONS, 10), quick=10), ids=range(len(INJECTIONS))
)
def test_no_text_breaks_a_search_or_reaches_beyond_it(api: Served, query: str) -> None:
    for path in (PATH, f"{PATH}/keyword", f"{PATH}/vector"):
        assert api.send("POST", path, {"query": query[:1000]}).status == 200
        assert found(api.send("POST", path, {"query": query[:1000]}, tenant="globex")) == []


def test_a_stage_without_a_reranker_says_so(world: CachedSearch, tags: TagService) -> None:
    api = Served(router, SimpleNamespace(search=world.service(reranker=None), tags=tags))
    refused = api.send("POST", PATH, {"query": "silk", "use_reranker": True})
    assert (refused.status, refused.body["code"]) == (404, "FEATURE_DISABLED")
