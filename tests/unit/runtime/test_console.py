"""The console's files, as a browser receives them."""

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from console.console_routes import routes
from spinneret.runtime.console.site import ConsoleSite, read_site
from spinneret.runtime.http.entrypoint import Api
from tests.unit.runtime.api import HEALTH, Answer, Invocation, changed, load
from tests.unit.runtime.test_openapi_page import Nobody

SOURCES = Path(__file__).resolve().parents[3] / "console" / "site"
PAGE = "/console/index.html"
Get = Callable[..., Answer]


@pytest.fixture(scope="module")
def site() -> ConsoleSite:
    return read_site(SOURCES)


@pytest.fixture(scope="module")
def get(site: ConsoleSite) -> Get:
    """Provide a function that requests a path with headers."""
    made = {routes.build: lambda: site}
    api = Api("console-api", routes, make=lambda build: made.get(build, Nobody()))  # type: ignore[arg-type, return-value]  # one of two kinds of services
    handler = api.handler

    def send(path: str, **headers: str) -> Answer:
        event = changed(load(HEALTH), None, path=path, headers=headers)
        answer = handler(event, Invocation())  # type: ignore[arg-type]  # stands for LambdaContext
        named = {name: values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(answer["statusCode"], named, answer["body"])

    return send


# covers K-01
def test_the_page_loads_only_files_that_exist_and_no_other_host(
    get: Get, site: ConsoleSite
) -> None:
    answer = get(PAGE)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "://" not in answer.text
    named = re.findall(r'(?:href|src)="([^"]+)"', answer.text)
    assert named
    for name in named:
        assert get(f"/console/{name}").status == 200, name


# covers K-01
def test_the_policy_admits_the_pages_one_inline_script_and_nothing_inline_else(get: Get) -> None:
    answer = get(PAGE)
    policy = answer.headers["Content-Security-Policy"]
    [inline] = re.findall(r"<script[^>]*[^/]>([^<]+)</script>", answer.text)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert {"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} <= {
        each.strip() for each in policy.split(";")
    }
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", answer.text)


# covers K-01
def test_the_policy_admits_files_to_the_inbox_and_images_of_media_from_their_buckets() -> None:
    site = read_site(SOURCES, inbox=["https://in.example"], media=["https://out.example"])
    policy = site.page.headers["Content-Security-Policy"]
    assert "connect-src 'self' https://in.example;" in policy
    assert "img-src 'self' https://out.example;" in policy


def test_a_file_of_this_version_is_kept_for_good_and_the_page_is_asked_for_again(
    get: Get, site: ConsoleSite
) -> None:
    assert "immutable" in get(f"/console/{site.version}/app/main.js").headers["Cache-Control"]
    first = get(PAGE)
    assert first.headers["Cache-Control"] == "no-cache"
    again = get(PAGE, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.text) == (304, "")


@pytest.mark.parametrize("path", ["older/app/main.js", "{version}/app/none.js", "{version}/app/.."])
def test_what_this_version_has_not_is_not_found(get: Get, site: ConsoleSite, path: str) -> None:
    assert get(f"/console/{path.format(version=site.version)}").status == 404


def test_the_folder_leads_to_its_page_below_any_prefix(get: Get) -> None:
    answer = get("/console")
    assert (answer.status, answer.headers["Location"]) == (307, "console/index.html")


def test_another_content_is_another_version(tmp_path: Path, site: ConsoleSite) -> None:
    for name in ("index.html", "icon.svg"):
        (tmp_path / name).write_text((SOURCES / name).read_text())
    assert read_site(tmp_path).version != site.version


# covers K-02
def test_no_source_writes_markup_from_text_or_evaluates_it() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\b"
        r"|new Function|localStorage|sessionStorage"
    )
    scripts = sorted(SOURCES.rglob("*.js"))
    assert scripts
    for script in scripts:
        assert not forbidden.search(script.read_text()), script.name
