"""Contract tests of browsers: the fake and the real one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from spinneret.kernel.errors import ScriptError
from spinneret.web.browser.models import (
    Dom,
    ImageFormat,
    Pdf,
    RenderRequest,
    Screenshot,
    ScriptOutcome,
    Scripts,
    Task,
)
from spinneret.web.browser.ports import Browser
from spinneret.web.fetching.urls import Url, parse_url
from tests.fakes.browser import FakeBrowser, Rendering
from tests.fakes.scripted_server import ScriptedServer, answer, redirect
from tests.integration.browsers import chromium

DOM = "<!DOCTYPE html>\n<html><head><title>Silk</title></head><body><p>Text</p></body></html>"


class RefusedError(Exception):
    """The error that a callable of the test raises."""


class World(Protocol):
    """A browser, and a site that serves DOM at `/page` and redirects `/` to it."""

    browser: Browser

    def url(self, path: str) -> Url: ...


class FakeWorld:
    def __init__(self) -> None:
        page = Rendering(
            dom=DOM,
            status_code=404,
            scripts=(ScriptOutcome(value='"Silk"'), ScriptOutcome(error=ScriptError("thrown"))),
        )
        first, second = (self.url(path).text for path in ("/", "/page"))
        moved = Rendering(dom=DOM, status_code=404, redirects=(second,))
        self.browser: Browser = FakeBrowser({first: moved, second: page})

    def url(self, path: str) -> Url:
        return parse_url(f"https://site.test{path}")


class RealWorld:
    def __init__(self, server: ScriptedServer, scratch: Path) -> None:
        self._server = server
        server.behaviours = {"/": redirect("/page"), "/page": answer(DOM.encode(), status=404)}
        self.browser: Browser = chromium(scratch, server.pair)

    def url(self, path: str) -> Url:
        return parse_url(self._server.url(path))


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.heavy)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    if request.param == "fake":
        yield FakeWorld()
        return
    with ScriptedServer() as server:
        yield RealWorld(server, tmp_path)


# covers C-11
@pytest.mark.parametrize(
    ("task", "begins_like"),
    [
        (Screenshot(), b"\x89PNG"),
        (Screenshot(format=ImageFormat.WEBP), b"RIFF"),
        (Pdf(), b"%PDF-1."),
        (Dom(), DOM.encode()),
    ],
    ids=["image", "webp", "pdf", "dom"],
)
def test_a_page_with_any_status_gives_the_tasks_output(
    world: World, task: Task, begins_like: bytes
) -> None:
    page = world.browser.render(RenderRequest(url=world.url("/page"), task=task))
    assert page.body.startswith(begins_like)
    assert (page.status_code, page.media_type, page.is_cut) == (404, "text/html", False)
    assert page.scripts == ()


def test_a_redirect_is_followed_and_each_document_announced(world: World) -> None:
    seen: list[Url] = []
    request = RenderRequest(url=world.url("/"), task=Dom(), before_document=seen.append)
    page = world.browser.render(request)
    assert seen == [world.url("/"), world.url("/page")]
    assert (page.requested, page.url) == (world.url("/"), world.url("/page"))


def test_scripts_have_an_outcome_each_and_no_body(world: World) -> None:
    task = Scripts(sources=("document.title", "throw 'it'", "null"))
    page = world.browser.render(RenderRequest(url=world.url("/page"), task=task))
    first, second, third = page.scripts
    assert (first.value, third.value) == ('"Silk"', "null")
    assert second.value is None
    assert second.error is not None
    assert page.body == b""


@pytest.mark.parametrize("field", ["before_document", "left_seconds"])
def test_an_exception_of_a_callable_ends_the_rendering(world: World, field: str) -> None:
    def refuse(*_: object) -> float:
        raise RefusedError

    callables: dict[str, Callable[..., float]] = {field: refuse}
    request = RenderRequest(url=world.url("/page"), task=Dom(), **callables)  # type: ignore[arg-type]  # by name
    with pytest.raises(RefusedError):
        world.browser.render(request)
