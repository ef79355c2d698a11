import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.kernel.errors import UrlInvalid
from spinneret.web.fetching.urls import (
    cache_url,
    canonical_url,
    join_url,
    parse_url,
    registrable_domain,
)
from tests.unit.web.fetching.cases import Case, table


@table("urls", "parsed")
def test_a_url_is_parsed_as_browsers_do(case: Case) -> None:
    assert parse_url(case["input"]).text == case["expected"]


@table("urls", "invalid")
def test_a_url_that_must_not_be_fetched_is_invalid(case: Case) -> None:
    with pytest.raises(UrlInvalid) as refusal:
        parse_url(case["input"])
    assert refusal.value.details["fields"][0]["path"] == "url"
    assert case["expected"] in refusal.value.details["reason"]


@pytest.mark.parametrize("path", ["a" * bounds.URL_MAX_CHARS, "ä" * 400])
def test_a_url_that_is_too_long_as_given_or_as_sent_is_invalid(path: str) -> None:
    with pytest.raises(UrlInvalid) as refusal:
        parse_url("http://example.com/" + path)
    assert refusal.value.details["reason"] == f"is longer than {bounds.URL_MAX_CHARS} characters"


def test_a_host_has_a_name_that_dns_can_hold() -> None:
    longest = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert parse_url(f"http://{longest}./").host == f"{longest}."
    with pytest.raises(UrlInvalid) as refusal:
        parse_url(f"http://a{longest}/")
    assert refusal.value.details["reason"] == "has a host of more than 253 characters"


def test_the_longest_url_is_taken() -> None:
    start = "http://example.com/"
    assert parse_url(start + "a" * (bounds.URL_MAX_CHARS - len(start)))


def test_a_url_has_its_parts() -> None:
    url = parse_url("https://[2606:4700::1111]:8443/a/b?x=1&y#part")
    assert (url.scheme, url.host, url.port) == ("https", "2606:4700::1111", 8443)
    assert (url.path, url.query, url.target) == ("/a/b", "x=1&y", "/a/b?x=1&y")
    assert url.authority == "[2606:4700::1111]:8443"
    assert url.origin == "https://[2606:4700::1111]:8443"


# covers F-02
@table("urls", "canonical")
def test_canonical_and_cache_forms(case: Case) -> None:
    assert canonical_url(parse_url(case["input"])).text == case["expected"]
    assert cache_url(parse_url(case["input"])) == case["key"]


PIECE = st.text(alphabet=string.printable + "äß例%\u3002\uff0f", max_size=12)


@st.composite
def urls(draw: st.DrawFn) -> str:
    host = draw(st.sampled_from(["Example.com", "127.1", "[::1]", "bücher.example", "a.b."]))
    port = draw(st.sampled_from(["", ":80", ":443", ":8080"]))
    path = "".join(draw(st.lists(st.sampled_from(["/", "//", "/.", "/..", "/%2e", "/a"]))))
    return f"{draw(st.sampled_from(['http', 'HTTPS']))}://{host}{port}{path}/{draw(PIECE)}"


# covers F-02
@given(st.one_of(urls(), PIECE.map("http://{}".format)), PIECE)
def test_canonical_and_cache_forms_are_their_own_forms(text: str, query: str) -> None:
    text = f"{text}?{query}"
    try:
        parsed = parse_url(text)
    except UrlInvalid:
        assume(False)
    assert parse_url(parsed.text) == parsed
    canonical, key = canonical_url(parsed), parse_url(cache_url(parsed))
    assert canonical_url(canonical) == canonical
    assert cache_url(key) == cache_url(canonical) == key.text
    assert sorted(filter(None, key.query.split("&"))) == sorted(
        filter(None, parsed.query.split("&"))
    )


@given(st.text())
def test_any_text_is_a_url_or_invalid(text: str) -> None:
    for candidate in (text, f"http://{text}"):
        try:
            url = parse_url(candidate)
        except UrlInvalid:
            continue
        assert url.text.isascii()
        assert " " not in url.text


@table("urls", "joined")
def test_a_link_is_joined_as_browsers_do(case: Case) -> None:
    joined = join_url(parse_url(case["base"]), case["input"])
    assert (joined and joined.text) == case["expected"]


def test_a_link_that_makes_too_long_a_url_is_none() -> None:
    assert join_url(parse_url("https://example.com/"), "/" + "a" * bounds.URL_MAX_CHARS) is None


# covers F-02
@table("urls", "domains")
def test_the_registrable_domain_follows_the_public_suffix_list(case: Case) -> None:
    assert registrable_domain(case["input"]) == case["expected"]
