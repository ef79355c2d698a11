"""The document and its page as they are served."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from core.docs_routes import routes
from spinneret.runtime.http.entrypoint import Api
from tests.unit.runtime.api import HEALTH, Answer, Invocation, changed, load

PAGE, DOCUMENT = "/docs", "/api/v1/openapi.json"
Get = Callable[..., Answer]


class Parts(HTMLParser):
    """What a page consists of, as a browser splits it."""

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
    """Services that know nobody, for routes that ask for nobody."""

    keys: Any = None
    uploads: Any = None


@pytest.fixture(scope="module")
def get() -> Get:
    """Asks for a path, with headers."""
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
    """The directives of the page's Content-Security-Policy."""
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
    [bundle, start] = parts.inline["script"]
    assert "SwaggerUIBundle" in bundle
    assert "//" not in start
    assert set(re.findall(r"url\(['\"]?([a-z]+:)?", parts.inline["style"][0])) == {"data:"}


def test_the_page_allows_what_it_consists_of_and_nothing_else(
    page: Answer, policy: dict[str, list[str]]
) -> None:
    parts = Parts(page.text)
    assert policy == {
        "default-src": ["'none'"],
        "script-src": [_source(each) for each in parts.inline["script"]],
        "style-src": [_source(each) for each in parts.inline["style"]],
        "img-src": ["data:"],
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }


def test_the_page_fits_into_what_lambda_answers(page: Answer) -> None:
    assert len(json.dumps(page.text)) < 5 * 1024 * 1024


@pytest.mark.parametrize("path", [PAGE, DOCUMENT])
def test_who_has_it_is_told_so(get: Get, path: str) -> None:
    tag = get(path).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = get(path, **{"If-None-Match": known})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert get(path, **{"If-None-Match": '"other"'}).status == 200


@pytest.mark.parametrize("path", [PAGE, DOCUMENT])
def test_it_is_kept_for_minutes_and_taken_for_what_it_is(get: Get, path: str) -> None:
    headers = get(path).headers
    assert headers["Cache-Control"] == "public, max-age=300"
    assert headers["X-Content-Type-Options"] == "nosniff"


def _source(inline: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"
