"""The API's document and its page, as served."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from core.docs_routes import routes
from spinneret.runtime.http.entrypoint import Api
from spinneret.runtime.openapi.areas import AREA, AREAS
from tests.unit.runtime.api import HEALTH, Answer, Invocation, changed, load

PAGE, DOCUMENT = "/docs", "/api/v1/openapi.json"
Get = Callable[..., Answer]


class Parts(HTMLParser):
    """Parts of a page, as a browser splits it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inline: dict[str, list[str]] = {"script": [], "style": []}
        self.attributes: list[tuple[str, str, str | None]] = []
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._within = tag
        if tag in self.inline:
            self.inline[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in self.inline:
            self.inline[self._within][-1] += data


class Nobody:
    """Services without keys, for routes that authenticate nobody."""

    keys: Any = None
    uploads: Any = None
    origins: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def get() -> Get:
    """Provide a function that requests a path with headers."""
    handler = Api("core-api", routes, make=lambda _: Nobody()).handler

    def send(path: str, **headers: str) -> Answer:
        event = changed(load(HEALTH), None, path=path, headers=headers)
        answer = handler(event, Invocation())  # type: ignore[arg-type]  # stands for LambdaContext
        named = {name: values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(answer["statusCode"], named, answer["body"])

    return send


@pytest.fixture(scope="module")
def page(get: Get) -> Answer:
    return get(PAGE)


@pytest.fixture
def policy(page: Answer) -> dict[str, list[str]]:
    """Provide the directives of the page's Content-Security-Policy."""
    directives = (each.split() for each in page.headers["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in directives}


def test_the_document_is_open_and_served_as_it_is_stored(get: Get) -> None:
    answer = get(DOCUMENT)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.body["openapi"] == "3.1.0"
    assert DOCUMENT in answer.body["paths"]
    assert answer.text == json.dumps(answer.body, indent=1, ensure_ascii=False) + "\n"


def test_the_page_names_no_other_host(page: Answer) -> None:
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    parts = Parts(page.text)
    assert [each for each in parts.attributes if each[1] in {"src", "href", "action"}] == []
    [script] = parts.inline["script"]
    assert "://" not in script
    assert set(re.findall(r'"(docs/[^"]*)"', script)) == {
        "docs/", "docs/swagger-ui.css", "docs/swagger-ui.js",
    }  # fmt: skip


def test_the_page_is_small_and_loads_an_area_when_it_is_opened(get: Get, page: Answer) -> None:
    assert len(page.text.encode()) < 50_000
    assert all(len(get(f"{PAGE}/{area}.json").text) < 300_000 for area in AREAS)


def test_the_page_shows_once_what_holds_for_all_operations(page: Answer) -> None:
    before, _, areas = page.text.partition("<main>")
    assert "<p><b>Credentials.</b> Send an API key in <code>X-API-Key</code> or as bearer" in before
    assert "Credentials" not in areas
    # Swagger UI would repeat it in each area.
    assert "main .swagger-ui :is(.info," in page.text


def test_the_page_lists_all_operations_by_area(get: Get, page: Answer) -> None:
    whole = get(DOCUMENT).body
    listed = re.findall(r'data-operation="(\w+)"', page.text)
    operations = [each["operationId"] for path in whole["paths"].values() for each in path.values()]
    assert sorted(listed) == sorted(operations)
    sections = re.findall(r'<section id="(\w+)"', page.text)
    assert sections == list(AREAS)
    assert {tag[AREA] for tag in whole["tags"]} == set(AREAS)


def test_areas_are_in_the_order_of_the_readme(get: Get) -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    table = "\n".join(line for line in readme.splitlines() if line.startswith("| `"))
    first = {
        area: min(found)
        for area in AREAS
        if (
            found := [
                table.index(f"{path}`")
                for path in get(f"{PAGE}/{area}.json").body["paths"]
                if f"{path}`" in table
            ]
        )
    }
    assert sorted(first, key=lambda area: first[area]) == [area for area in AREAS if area in first]


@pytest.mark.parametrize("area", AREAS)
def test_the_part_of_an_area_is_complete_and_nothing_more(get: Get, area: str) -> None:
    part, whole = get(f"{PAGE}/{area}.json").body, get(DOCUMENT).body
    tags = {tag["name"] for tag in whole["tags"] if tag[AREA] == area}
    assert part["paths"] == {
        path: methods
        for path, methods in whole["paths"].items()
        if {tag for each in methods.values() for tag in each["tags"]} & tags
    }
    referred = set(re.findall(r"#/components/\w+/[\w.-]+", json.dumps(part)))
    present = {
        f"#/components/{kind}/{name}"
        for kind, members in part["components"].items()
        if kind != "securitySchemes"
        for name in members
    }
    assert referred == present


@pytest.mark.parametrize(
    ("name", "start"), [("swagger-ui.js", "text/javascript"), ("swagger-ui.css", "text/css")]
)
def test_the_library_of_the_page_comes_from_this_api(get: Get, name: str, start: str) -> None:
    answer = get(f"{PAGE}/{name}")
    assert (answer.status, answer.headers["Content-Type"].startswith(start)) == (200, True)
    assert set(re.findall(r"url\(['\"]?([a-z]+:)", answer.text)) <= {"data:"}


@pytest.mark.parametrize("name", ["streams.json", "crawl", "openapi.json", "page.js"])
def test_the_page_has_no_other_parts(get: Get, name: str) -> None:
    assert get(f"{PAGE}/{name}").status == 404


def test_the_page_allows_what_it_consists_of_and_nothing_else(
    page: Answer, policy: dict[str, list[str]]
) -> None:
    parts = Parts(page.text)
    assert policy == {
        "default-src": ["'none'"],
        "script-src": ["'self'", *(_source(each) for each in parts.inline["script"])],
        "style-src": ["'self'", *(_source(each) for each in parts.inline["style"])],
        "img-src": ["data:"],
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }


def test_the_library_fits_into_what_lambda_answers(get: Get) -> None:
    assert len(json.dumps(get(f"{PAGE}/swagger-ui.js").text)) < 5 * 1024 * 1024


@pytest.mark.parametrize("path", [PAGE, DOCUMENT, f"{PAGE}/crawl.json"])
def test_who_has_it_is_told_so(get: Get, path: str) -> None:
    tag = get(path).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = get(path, **{"If-None-Match": known})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert get(path, **{"If-None-Match": '"other"'}).status == 200


@pytest.mark.parametrize("path", [PAGE, DOCUMENT, f"{PAGE}/swagger-ui.js"])
def test_it_is_kept_for_minutes_and_taken_for_what_it_is(get: Get, path: str) -> None:
    headers = get(path).headers
    assert headers["Cache-Control"] == "public, max-age=300"
    assert headers["X-Content-Type-Options"] == "nosniff"


def _source(inline: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"
