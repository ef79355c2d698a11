from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spinneret.fetching.urls import (
    cache_url,
    canonical_url,
    parse_url,
    registrable_domain,
    resolve,
)
from spinneret.kernel import limits
from spinneret.kernel.errors import UrlInvalid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://example.com", "http://example.com/"),
        ("  https://example.com/a \n", "https://example.com/a"),
        ("HTTPS://EXAMPLE.com/A", "https://example.com/A"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com/#part", "http://example.com/"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com/a/../b/./c", "http://example.com/b/c"),
        ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
        ("http://example.com/%zz?%zz|'", "http://example.com/%zz?%zz|%27"),
        ("http://bücher.example/ä?ö=ü", "http://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://@example.com/", "http://example.com/"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://example.com\\@evil.test/", "http://example.com/@evil.test/"),
        ("http:example.com", "http://example.com/"),
        ("http:///example.com/a", "http://example.com/a"),
        # every form that means an IPv4 address
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0177.0.0.1/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://0x7F000001/", "http://127.0.0.1/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://127.0.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1./", "http://127.0.0.1/"),
        ("http://0/", "http://0.0.0.0/"),
        ("http://\uff11\uff12\uff17\u3002\uff10\u3002\uff10\u3002\uff11/", "http://127.0.0.1/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
        ("http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/", "http://localhost/"),
        ("http://loc%61lhost/", "http://localhost/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://[0:0:0:0:0:FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ],
)
def test_a_url_is_parsed_as_browsers_do(text: str, expected: str) -> None:
    assert parse_url(text).text == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        ("example.com/a", "absolute"),
        ("//example.com/", "absolute"),
        ("/a", "absolute"),
        ("http://", "absolute"),
        ("http://?q", "absolute"),
        ("http://:80/", "absolute"),
        ("http://example.com:99999/", "absolute"),
        ("http://example.com:8a/", "absolute"),
        ("http://256.1.1.1/", "absolute"),
        ("http://1.2.3.4.5/", "absolute"),
        ("http://[::1", "absolute"),
        ("http://[fe80::1%25eth0]/", "absolute"),
        ("http://[fe80::1%eth0]/", "absolute"),
        ("http://exa%00mple.com/", "absolute"),
        ("http://exa<mple.com/", "absolute"),
        ("http://\u00ad/", "absolute"),
        ("http://exam\ud800ple.com/", "absolute"),
        ("ftp://example.com/", "http or https"),
        ("file:///etc/passwd", "http or https"),
        ("javascript:alert(1)", "http or https"),
        ("data:text/html,x", "http or https"),
        ("ws://example.com/", "http or https"),
        ("gopher://example.com/", "http or https"),
        ("http://user@example.com/", "credentials"),
        ("http://user:word@example.com/", "credentials"),
        ("http://:word@example.com/", "credentials"),
        ("http://example.com@127.0.0.1/", "credentials"),
        ("http://example.com:0/", "port 0"),
        ("http://example.com/a b", "blanks"),
        ("http://exam\tple.com/", "blanks"),
        ("ht\ntp://example.com/", "blanks"),
        ("http://example.com/\x00", "blanks"),
        ("http://example.com/a\x7fb", "blanks"),
        ("http://example.com/a\u00a0b", "blanks"),
        ("http://example.com/a\u2028b", "blanks"),
        ("http://exam\u3000ple.com/", "blanks"),
        ("\u2003http://example.com/", "blanks"),
        ("http://example.com/" + "a" * limits.URL_MAX_CHARS, "longer"),
        ("http://example.com/" + "ä" * 400, "longer"),
    ],
)
def test_a_url_that_must_not_be_fetched_is_invalid(text: str, reason: str) -> None:
    with pytest.raises(UrlInvalid) as refusal:
        parse_url(text)
    assert refusal.value.details["field"] == "url"
    assert reason in refusal.value.details["reason"]


def test_the_longest_url_is_taken() -> None:
    start = "http://example.com/"
    assert parse_url(start + "a" * (limits.URL_MAX_CHARS - len(start)))


def test_a_url_has_its_parts() -> None:
    url = parse_url("https://[2606:4700::1111]:8443/a/b?x=1&y#part")
    assert (url.scheme, url.host, url.port) == ("https", "2606:4700::1111", 8443)
    assert (url.path, url.query, url.target) == ("/a/b", "x=1&y", "/a/b?x=1&y")
    assert url.authority == "[2606:4700::1111]:8443"
    assert url.origin == "https://[2606:4700::1111]:8443"


@pytest.mark.parametrize(
    ("text", "canonical", "key"),
    [
        ("HTTP://Example.COM", "http://example.com/", "http://example.com/"),
        ("http://example.com:80/a/", "http://example.com/a", "http://example.com/a"),
        ("http://example.com:8080/a", "http://example.com:8080/a", "http://example.com:8080/a"),
        ("https://example.com:443/#top", "https://example.com/", "https://example.com/"),
        ("http://example.com/A/B/", "http://example.com/A/B", "http://example.com/A/B"),
        ("http://example.com//", "http://example.com//", "http://example.com//"),
        ("http://example.com/a//", "http://example.com/a//", "http://example.com/a//"),
        ("http://example.com/a/?q=/", "http://example.com/a?q=/", "http://example.com/a?q=/"),
        ("http://e.test/?b=1&a=2", "http://e.test/?b=1&a=2", "http://e.test/?a=2&b=1"),
        ("http://e.test/?b=2&a&b=1", "http://e.test/?b=2&a&b=1", "http://e.test/?a&b=2&b=1"),
        ("http://e.test/?b=&a=&b", "http://e.test/?b=&a=&b", "http://e.test/?a=&b=&b"),
        ("http://e.test/?b=%41+c&a=A", "http://e.test/?b=%41+c&a=A", "http://e.test/?a=A&b=%41+c"),
        ("http://e.test/?b&&a", "http://e.test/?b&&a", "http://e.test/?a&b"),
        ("http://e.test/?&", "http://e.test/?&", "http://e.test/"),
        ("http://Ä.example./x/", "http://xn--4ca.example./x", "http://xn--4ca.example./x"),
    ],
)
def test_canonical_and_cache_forms(text: str, canonical: str, key: str) -> None:
    assert canonical_url(text) == canonical
    assert cache_url(text) == key


PIECE = st.text(alphabet=string.printable + "äß例%\u3002\uff0f", max_size=12)


@st.composite
def urls(draw: st.DrawFn) -> str:
    host = draw(st.sampled_from(["Example.com", "127.1", "[::1]", "bücher.example", "a.b."]))
    port = draw(st.sampled_from(["", ":80", ":443", ":8080"]))
    path = "".join(draw(st.lists(st.sampled_from(["/", "//", "/.", "/..", "/%2e", "/a"]))))
    return f"{draw(st.sampled_from(['http', 'HTTPS']))}://{host}{port}{path}/{draw(PIECE)}"


@given(st.one_of(urls(), PIECE.map("http://{}".format)), PIECE)
def test_canonical_and_cache_forms_are_their_own_forms(text: str, query: str) -> None:
    text = f"{text}?{query}"
    try:
        parsed = parse_url(text)
    except UrlInvalid:
        assume(False)
    assert parse_url(parsed.text) == parsed
    assert canonical_url(canonical_url(text)) == canonical_url(text)
    assert cache_url(cache_url(text)) == cache_url(text) == cache_url(canonical_url(text))
    assert sorted(filter(None, parse_url(cache_url(text)).query.split("&"))) == sorted(
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


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("", "https://example.com/a/b?q"),
        ("c", "https://example.com/a/c"),
        ("../c#part", "https://example.com/c"),
        ("/c", "https://example.com/c"),
        ("?r", "https://example.com/a/b?r"),
        ("#part", "https://example.com/a/b?q"),
        (" \n c\t ", "https://example.com/a/c"),
        ("/c\nd", "https://example.com/cd"),
        ("//other.test/c", "https://other.test/c"),
        ("\\\\other.test\\c", "https://other.test/c"),
        ("https:c", "https://example.com/a/c"),
        ("http:other.test", "http://other.test/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("mailto:a@example.com", None),
        ("javascript:void(0)", None),
        ("file:///etc/passwd", None),
        ("data:text/html,x", None),
        ("//user@other.test/", None),
        ("//exa mple/", None),
        ("https://[::1/", None),
        ("/" + "a" * limits.URL_MAX_CHARS, None),
        ("\ud800", None),
    ],
)
def test_a_link_is_joined_as_browsers_do(href: str, expected: str | None) -> None:
    assert resolve("https://example.com/a/b?q#part", href) == expected


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("WWW.Example.Com.", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("me.github.io", "me.github.io"),
        ("www.me.github.io", "me.github.io"),
        ("github.io", "github.io"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("www.unlisted.invalidtld", "unlisted.invalidtld"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("2606:4700::1111", "2606:4700::1111"),
    ],
)
def test_the_registrable_domain_follows_the_public_suffix_list(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
