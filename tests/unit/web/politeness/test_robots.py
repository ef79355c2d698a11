"""robots.txt: the table of decisions, and cases that don't fit into a table."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.politeness.robots import Robots, parse, product_token_of
from tests.rows import each_row

CASES = json.loads((Path(__file__).parents[3] / "cases" / "robots.json").read_text())
SITE = "https://site.example"
LINE = limits.ROBOTS_LINE_MAX_BYTES


def permits(robots: Robots, path: str, agent: str = "Weaver") -> bool:
    return robots.allows(SITE + path, agent)


# covers F-03
@each_row((case["id"], case) for case in CASES)
def test_a_decision_of_the_table(case: dict[str, Any]) -> None:
    for content in (case["robots"], case["robots"].encode()):
        assert parse(content).allows(case["url"], case["agent"]) is case["allowed"]


# ---------------------------------------------------------------- Bytes that aren't quite UTF-8


@pytest.mark.parametrize(
    "mark", [b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"], ids=["none", "whole", "two", "one"]
)
def test_a_byte_order_mark_is_skipped_even_a_part_of_it(mark: bytes) -> None:
    robots = parse(mark + b"User-agent: *\nDisallow: /a\n")
    assert not permits(robots, "/a")


def test_a_broken_byte_order_mark_spoils_its_line_only() -> None:
    text = b"User-agent: Weaver\nDisallow: /a\nUser-agent: Orb\nDisallow: /b\n"
    robots = parse(b"\xef\x11\xbf" + text)
    assert permits(robots, "/a")
    assert not permits(robots, "/b", "Orb")


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_read(charset: str) -> None:
    robots = parse("\ufeffUser-agent: *\r\nDisallow: /ä\r\n".encode(charset))
    assert not permits(robots, "/%C3%A4")
    assert permits(robots, "/a")


def test_octets_that_are_no_utf_8_are_compared_as_octets() -> None:
    robots = parse("User-agent: *\nDisallow: /ä\n".encode("latin-1"))
    assert not permits(robots, "/%E4")
    assert permits(robots, "/%C3%A4")


def test_half_a_surrogate_pair_raises_nowhere() -> None:
    robots = parse("User-agent: *\nDisallow: /\ud83d\nAllow: /\udc80$\n")
    assert permits(robots, "/a\ud83d")


# ---------------------------------------------------------------- Bounds


def test_a_line_is_cut_where_the_reference_parser_cuts_it() -> None:
    name = "Disallow: "
    longest = "/" + "a" * (LINE - len(name) - 1)
    robots = parse(f"User-agent: *\n{name}{longest}bc\n")
    assert not permits(robots, longest)
    assert not permits(robots, f"{longest}x")
    assert permits(robots, longest[:-1])


def test_what_follows_a_line_that_was_cut_is_read() -> None:
    robots = parse(f"User-agent: *\nAllow: /{'a' * 2 * LINE}\nDisallow: /b\n")
    assert not permits(robots, "/b")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_half_a_rule_at_the_end_of_what_is_read_says_nothing(end: str) -> None:
    head = f"User-agent: *{end}Disallow: /first{end}"
    last = "Disallow: /private"
    filler = "#" * (bounds.ROBOTS_MAX_BYTES - len(head) - len(end) - len("Disallow: /"))
    robots = parse(head + filler + end + last + end)
    assert not permits(robots, "/first")
    assert permits(robots, "/private")
    assert permits(robots, "/")


def test_a_rule_that_ends_with_what_is_read_counts() -> None:
    head, last = "User-agent: *\n", "\nDisallow: /last"
    filler = "#" * (bounds.ROBOTS_MAX_BYTES - len(head) - len(last))
    for beyond in ("", "\n", "\nDisallow: /beyond\n"):
        robots = parse(head + filler + last + beyond)
        assert not permits(robots, "/last")
        assert permits(robots, "/beyond")
    assert permits(parse(head + filler + last + "/behind\n"), "/last/behind")


def test_one_endless_line_says_nothing() -> None:
    assert permits(parse(b"Disallow: /" * bounds.ROBOTS_MAX_BYTES), "/")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("pattern", ["/" + "a*" * 8000 + "b", "*" * 16000 + "b$", "/" + "*a" * 40])
def test_a_hostile_file_takes_no_more_than_its_size(pattern: str) -> None:
    """A matcher that backtracks at every asterisk would practically never end."""
    line = f"Disallow: {pattern}\n"
    robots = parse("User-agent: *\n" + line * (bounds.ROBOTS_MAX_BYTES // len(line)))
    assert permits(robots, "/" + "a" * 30 + "c")


@pytest.mark.timeout(20)
def test_many_agents_with_many_rules_take_no_more_than_their_size() -> None:
    agents = "".join(f"User-agent: {chr(97 + n % 26)}{'x' * (n % 97)}\n" for n in range(6000))
    robots = parse(agents + "Crawl-delay: 1\n" * 6000 + "Disallow: /a\n" * 6000)
    assert not permits(robots, "/a", "a")


# ---------------------------------------------------------------- Crawl-delay


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        ("0", 0.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("10 # polite", 10.0),
        ("86400", 86400.0),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1e3", None),
        ("5s", None),
        ("1,5", None),
        ("1 2", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400, None),
        ("\u0665", None),
    ],
)
def test_a_delay_is_a_plain_decimal_number(value: str, seconds: float | None) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {value}\n").crawl_delay("Weaver") == seconds


@pytest.mark.parametrize(
    ("text", "weaver", "orb"),
    [
        ("", None, None),
        ("Crawl-delay: 5", None, None),
        ("User-agent: Weaver|Crawl-delay: 5", 5, None),
        ("User-agent: *|Crawl-delay: 5", 5, 5),
        ("User-agent: *|Crawl-delay: 5|User-agent: Weaver|Crawl-delay: 1", 1, 5),
        ("User-agent: *|Crawl-delay: 1|User-agent: Weaver|Crawl-delay: 5", 5, 1),
        ("User-agent: *|Crawl-delay: 5|User-agent: Weaver|Disallow: /a", None, 5),
        ("User-agent: Weaver|User-agent: Orb|Crawl-delay: 5", 5, 5),
        ("User-agent: Weaver|Crawl-delay: 5|User-agent: Orb|Crawl-delay: 7", 5, 7),
        ("User-agent: Weaver|Disallow: /a|Crawl-delay: 5|Disallow: /b", 5, None),
        ("User-agent: Weaver|Disallow: /a|User-agent: Orb|Crawl-delay: 5", None, 5),
        ("User-agent: Weaver|Crawl-delay: 5|Crawl-delay: 3", 5, None),
        ("User-agent: Weaver|Crawl-delay: 3|Crawl-delay: 5|Crawl-delay: x", 5, None),
        ("User-agent: Weaver|Crawl-delay: 3||User-agent: Weaver|Crawl-delay: 5", 5, None),
        ("User-agent: Weaver|crawl delay: 3", 3, None),
    ],
)
def test_a_delay_is_for_the_agents_right_above_it(
    text: str, weaver: float | None, orb: float | None
) -> None:
    robots = parse(text.replace("|", "\n"))
    assert (robots.crawl_delay("weaver"), robots.crawl_delay("orb")) == (weaver, orb)


# ---------------------------------------------------------------- Sitemaps


def test_sitemaps_are_found_anywhere_each_once() -> None:
    robots = parse(
        "Sitemap: https://site.example/a.xml\n"
        "User-agent: Weaver\nSITEMAP:http://other.example/b.xml?c=d\n"
        "Disallow: /\nSite-map: https://site.example/a.xml\nsitemap: HTTPS://site.example/ä.xml # 3"
    )
    assert robots.sitemaps == (
        "https://site.example/a.xml",
        "http://other.example/b.xml?c=d",
        "HTTPS://site.example/ä.xml",
    )


@pytest.mark.parametrize(
    "url",
    [
        "/sitemap.xml",
        "sitemap.xml",
        "//site.example/a",
        "ftp://site.example/a",
        "file:///etc/passwd",
        "https://",
        "https:///a",
        "https:a",
        "https://site.example/a b",
        "https://site.example/\x00",
        "https://site.example/" + "a" * bounds.URL_MAX_CHARS,
        "",
    ],
)
def test_only_whole_web_addresses_are_sitemaps(url: str) -> None:
    assert parse(f"Sitemap: {url}\n").sitemaps == ()


def test_the_first_sitemaps_of_very_many_are_kept() -> None:
    urls = [f"{SITE}/{n}.xml" for n in range(2 * limits.ROBOTS_SITEMAPS)]
    robots = parse("".join(f"Sitemap: {url}\n" for url in urls))
    assert robots.sitemaps == tuple(urls[: limits.ROBOTS_SITEMAPS])


def test_half_a_million_lines_take_no_time() -> None:
    began = time.process_time()
    parse(b"\n" * bounds.ROBOTS_MAX_BYTES)
    assert time.process_time() - began < 0.5  # formerly 2 s


# ---------------------------------------------------------------- Product tokens


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("Spinneret", "Spinneret"),
        ("Spinneret/1.0 (+https://site.example/bot)", "Spinneret"),
        ("Spinneret (compatible)", "Spinneret"),
        ("web-weaver_x/2", "web-weaver_x"),
        ("Weaver2", "Weaver"),
        ("Mozilla/5.0 (compatible; Weaver/1.0)", "Mozilla"),
        ("Weaver\nX: y", "Weaver"),
        ("Spinn\u00ebret", "Spinn"),
        ("2", ""),
        ("*", ""),
        ("", ""),
    ],
)
def test_a_product_token_ends_at_the_first_other_character(user_agent: str, token: str) -> None:
    assert product_token_of(user_agent) == token
