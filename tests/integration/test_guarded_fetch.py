"""Pages and redirects through the guarded fetcher, on real sockets."""

import itertools
from dataclasses import replace

import pytest

from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    ContentRefused,
    TooManyRedirects,
    UrlBlocked,
)
from spinneret.web.fetching.models import FetchedPage
from spinneret.web.fetching.urls import Url, parse_url
from tests.fakes.guarded_fetch import (
    PAGE,
    PUBLIC,
    USER_AGENT,
    RoutedTcp,
    ScriptedResolver,
    fetch,
    fetcher,
    names_no_address,
    request,
)
from tests.fakes.scripted_server import (
    HOST,
    ScriptedServer,
    answer,
    drip,
    head,
    in_turn,
    raw,
    redirect,
)
from tests.unit.web.fetching.cases import Case, each_case


def test_a_page_is_fetched_whole(server: ScriptedServer) -> None:
    server.behaviours["/a%2Fb"] = answer(
        PAGE, "X-Tag: one", "X-Tag: two", content_type="Text/HTML; charset=UTF-8"
    )
    page = fetcher(server).fetch(request(server.url("/a%2Fb?x=%zz|'&&#part")))
    assert page.body == PAGE
    assert (page.status_code, page.media_type, page.charset) == (200, "text/html", "UTF-8")
    assert page.headers["x-tag"] == "one, two"
    assert page.url.text == page.requested.text == server.url("/a%2Fb?x=%zz|%27&&")
    assert page.redirects == ()
    assert page.duration_ms >= 0


def test_the_request_is_what_the_url_says(server: ScriptedServer) -> None:
    server.behaviours["/a%2Fb"] = answer(PAGE)
    fetcher(server).fetch(request(server.url("/a%2Fb?x=%zz|&&")))
    [seen] = server.requests
    assert seen.target == "/a%2Fb?x=%zz|&&"
    assert seen.headers == {
        "host": server.pair,
        "user-agent": USER_AGENT,
        "accept": "*/*",
        "accept-encoding": "gzip, deflate, br, zstd",
    }


@pytest.mark.parametrize("status", [201, 404, 410, 429, 500, 503, 304])
def test_the_answer_is_a_page_whatever_its_status(server: ScriptedServer, status: int) -> None:
    page = fetch(server, answer(b"", "Retry-After: 7", status=status))
    assert (page.status_code, page.headers["retry-after"]) == (status, "7")


def test_the_body_of_an_error_is_not_read(server: ScriptedServer) -> None:
    page = fetch(
        server,
        raw(
            head(500, "Content-Type: image/png", f"Content-Length: {10**12}", "Content-Encoding: x")
        ),
        media_types=frozenset({"text/html"}),
    )
    assert (page.status_code, page.body) == (500, b"")


@pytest.mark.parametrize(
    ("content_type", "body", "media_type"),
    [
        (None, PAGE, "text/html"),
        (None, b"\n <HTML>" + b"x" * 2000, "text/html"),
        ("nonsense", PAGE, "text/html"),
        (None, b"%PDF-1.7", "application/octet-stream"),
        (None, b"", ""),
    ],
)
def test_a_missing_content_type_is_guessed(
    server: ScriptedServer, content_type: str | None, body: bytes, media_type: str
) -> None:
    page = fetch(server, answer(body, content_type=content_type))
    assert (page.media_type, page.body) == (media_type, body)


def test_a_media_type_is_refused_before_the_body_is_read(server: ScriptedServer) -> None:
    with pytest.raises(ContentRefused) as refusal:
        fetch(
            server,
            drip(head(200, "Content-Type: image/png"), itertools.repeat(b"x"), 0.05),
            media_types=frozenset({"text/html"}),
        )
    assert refusal.value.details == {"media_type": "image/png"}
    assert server.requests[0].headers["accept"] == "text/html, */*;q=0.1"


def test_a_guessed_media_type_is_refused_early(server: ScriptedServer) -> None:
    with pytest.raises(ContentRefused):
        fetch(
            server,
            drip(head(200) + b"%PDF" * 200, itertools.repeat(b"x"), 0.05),
            media_types=frozenset({"text/html"}),
        )


SITE = "http://site.test/a/b?q"


def fetch_site(server: ScriptedServer, **others: object) -> FetchedPage:
    """Fetch the site's page; every name resolves to the scripted server."""
    every_host = RoutedTcp(server, PUBLIC, "1.1.1.1", "2606:4700::1111")
    guarded = fetcher(server, resolver=ScriptedResolver([PUBLIC]), tcp=every_host, **others)
    return guarded.fetch(request(SITE))


@each_case("redirects", "followed")
def test_a_redirect_is_followed_as_browsers_do(server: ScriptedServer, case: Case) -> None:
    server.fallback = in_turn(redirect(case["input"]), answer(PAGE))
    page = fetch_site(server)
    assert (page.body, page.url.text, page.redirects) == (PAGE, case["expected"], (SITE,))
    seen = server.requests[1]
    assert f"http://{seen.headers['host']}{seen.target}" == case["expected"]


@each_case("redirects", "circles")
def test_a_redirect_to_the_same_page_is_a_circle(server: ScriptedServer, case: Case) -> None:
    server.fallback = in_turn(redirect(case["input"]), answer(PAGE))
    with pytest.raises(TooManyRedirects, match="redirects in a circle"):
        fetch_site(server)


@each_case("redirects", "answers")
def test_a_redirect_that_cannot_be_followed_is_the_answer(
    server: ScriptedServer, case: Case
) -> None:
    server.fallback = in_turn(redirect(case["input"]), answer(PAGE))
    page = fetch_site(server)
    assert (page.status_code, page.redirects, len(server.requests)) == (302, (), 1)


def test_a_redirect_to_too_long_a_url_is_the_answer(server: ScriptedServer) -> None:
    server.fallback = in_turn(redirect("/" + "a" * bounds.URL_MAX_CHARS), answer(PAGE))
    assert fetch_site(server).status_code == 302


@each_case("redirects", "heads")
def test_only_a_redirects_status_with_one_location_is_followed(
    server: ScriptedServer, case: Case
) -> None:
    server.fallback = in_turn(answer(b"", *case["input"], status=case["status"]), answer(PAGE))
    page = fetch_site(server)
    if case["expected"] == "followed":
        assert (page.body, page.redirects) == (PAGE, (SITE,))
    else:
        assert (page.status_code, page.redirects) == (case["status"], ())


@each_case("redirects", "chains")
def test_headers_stay_with_their_origin_and_never_come_back(
    server: ScriptedServer, case: Case
) -> None:
    """A host that redirects back to the first origin chooses which page is requested there."""
    first, *hops = case["input"]
    server.fallback = in_turn(*map(redirect, hops), answer(PAGE))
    given = {"Authorization": "Bearer silk", "Cookie": "id=silk", "X-Api-Key": "silk", "X-Tag": "1"}
    guarded = fetcher(resolver=ScriptedResolver([PUBLIC]), tcp=RoutedTcp(server, PUBLIC, "1.1.1.1"))
    assert guarded.fetch(request(first, headers=given)).body == PAGE
    names = {name.lower() for name in given}
    carried = [names & seen.headers.keys() for seen in server.requests]
    assert carried == [names if expected else set() for expected in case["expected"]]


def test_cookies_of_a_hop_are_not_sent_on(server: ScriptedServer) -> None:
    server.behaviours["/end"] = answer(PAGE)
    fetch(server, redirect("/end", "Set-Cookie: id=1; Path=/"))
    assert "cookie" not in server.requests[1].headers


def test_redirects_are_counted(server: ScriptedServer) -> None:
    for step in range(3):
        server.behaviours[f"/{step}"] = redirect(f"/{step + 1}")
    server.behaviours["/3"] = answer(PAGE)
    page = fetcher(server).fetch(request(server.url("/0"), max_redirects=3))
    assert page.redirects == tuple(server.url(f"/{step}") for step in range(3))
    with pytest.raises(TooManyRedirects, match="more than 2 times") as refusal:
        fetcher(server).fetch(request(server.url("/0"), max_redirects=2))
    assert refusal.value.details == {"max_redirects": 2}


def test_a_redirect_circle_ends_before_its_first_repetition(server: ScriptedServer) -> None:
    with pytest.raises(TooManyRedirects, match="redirects in a circle"):
        fetch(server, redirect("/page"))
    assert len(server.requests) == 1
    server.behaviours |= {"/a": redirect("/b"), "/b": redirect("/c"), "/c": redirect("/b#part")}
    entered: list[str] = []
    with pytest.raises(TooManyRedirects, match="redirects in a circle"):
        fetcher(server).fetch(
            request(server.url("/a"), before_redirect=lambda url: entered.append(url.target))
        )
    assert [each.target for each in server.requests[1:]] == ["/a", "/b", "/c"]
    assert entered == ["/b", "/c"]


def test_a_circle_through_hosts_that_an_earlier_attempt_left_is_seen(
    server: ScriptedServer,
) -> None:
    server.behaviours["/b"] = redirect("/a")
    resumed = replace(
        request(server.url("/b")),
        left=(parse_url(server.url("/a")),),
        url=parse_url(server.url("/b")),
    )
    with pytest.raises(TooManyRedirects, match="redirects in a circle"):
        fetcher(server).fetch(resumed)
    assert [each.target for each in server.requests] == ["/b"]


# covers F-01
@each_case("redirects", "refused")
def test_a_redirect_inside_is_refused_without_a_connect(
    server: ScriptedServer, connects: list[tuple[str, int]], case: Case
) -> None:
    with ScriptedServer() as other:
        place = case["input"].format(host=HOST, other=other.port, allowed=server.port)
        server.behaviours["/page"] = redirect(place)
        start = "http://site.test/page"
        guarded = fetcher(
            server,
            resolver=ScriptedResolver([PUBLIC]),
            tcp=RoutedTcp(server, PUBLIC),
        )
        asked: list[Url] = []
        with pytest.raises(UrlBlocked) as refusal:
            guarded.fetch(request(start, before_redirect=asked.append))
        assert (other.connections, asked) == (0, [])
    assert connects == [(HOST, server.port)]
    assert "site.test" in refusal.value.message
    assert names_no_address(refusal.value, server.port, other.port)
