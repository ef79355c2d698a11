"""robots.txt: properties of every file."""

import math
import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.web.politeness.robots import parse
from spinneret.web.politeness.robots_lines import bounded

AGENTS = ("Weaver", "Orb", "*")
SITE = "https://site.example"
# Few letters and short words, so that rules often match paths.
patterns = st.text("ab/*$", max_size=6).map(lambda text: f"/{text}")
paths = st.text("ab/", max_size=8).map(lambda text: f"/{text}")
rules = st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns)
groups = st.tuples(
    st.lists(st.sampled_from(AGENTS), min_size=1, max_size=2, unique=True),
    st.lists(rules, min_size=1, max_size=4),
)
pieces = st.sampled_from(
    [
        *("User-agent:", "Disallow:", "Allow:", "Crawl-delay:", "Sitemap:", "disallow", "#", ":"),
        *(
            " ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "*",
            "/",
            "$",
            "%",
            "%6",
            "%61",
            "%zz",
            "Weaver",
            "9",
            ".",
        ),
        *("\x00", "\x85", "\u2028", "\ufeff", "ä", "ツ", "🕷", "\ud800", "https://site.example/"),
    ]
)
files = st.lists(pieces, max_size=40).map("".join)
urls = st.lists(pieces, max_size=8).map("".join)


def lines(group: tuple[list[str], list[tuple[str, str]]]) -> list[str]:
    agents, rules = group
    return [f"User-agent: {agent}" for agent in agents] + [f"{kind}: {at}" for kind, at in rules]


def reference(rules: Sequence[tuple[str, str]], path: str) -> bool:
    """Apply RFC 9309 literally, without escapes: the longest rule that matches, Allow on a tie."""
    found = [
        (len(pattern), kind == "Allow")
        for kind, pattern in rules
        if re.match(expression(pattern), path)
    ]
    return max(found, default=(0, True))[1]


def expression(pattern: str) -> str:
    body = ".*".join(re.escape(piece) for piece in pattern.removesuffix("$").split("*"))
    return body + (r"\Z" if pattern.endswith("$") else "")


@given(st.lists(rules, min_size=1, max_size=8), paths)
def test_the_longest_match_wins(rules: list[tuple[str, str]], path: str) -> None:
    robots = parse("\n".join(lines((["*"], rules))))
    assert robots.allows(SITE + path, "Weaver") is reference(rules, path)


@given(st.lists(groups, max_size=5), paths, st.sampled_from(AGENTS[:2]))
def test_all_groups_of_an_agent_count_and_those_of_anybody_only_without_them(
    given_groups: list[tuple[list[str], list[tuple[str, str]]]], path: str, agent: str
) -> None:
    robots = parse("\n".join(line for group in given_groups for line in lines(group)))
    named = [rules for agents, rules in given_groups if agent in agents]
    anybody = [rules for agents, rules in given_groups if "*" in agents]
    merged = [rule for rules in named or anybody for rule in rules]
    assert robots.allows(SITE + path, agent.upper()) is reference(merged, path)


@given(st.lists(groups, max_size=4), st.randoms(use_true_random=False), paths)
def test_the_order_of_groups_makes_no_difference(
    given_groups: list[tuple[list[str], list[tuple[str, str]]]], random: object, path: str
) -> None:
    shuffled = list(given_groups)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    first, second = (
        parse("\n".join(line for group in each for line in lines(group)))
        for each in (given_groups, shuffled)
    )
    for agent in AGENTS:
        assert first.allows(SITE + path, agent) is second.allows(SITE + path, agent)


@given(st.lists(files.map(lambda text: re.sub(r"[\r\n]", "", text)), max_size=8), urls)
def test_the_kind_of_line_ends_makes_no_difference(given_lines: list[str], url: str) -> None:
    decisions = {
        (robots.allows(url, "Weaver"), robots.crawl_delay("Weaver"), robots.sitemaps)
        for robots in (parse(end.join(given_lines)) for end in ("\n", "\r", "\r\n", "\n\n"))
    }
    assert len(decisions) == 1


@given(st.one_of(files, st.binary(), files.map(lambda text: text.encode("utf-8", "replace"))), urls)
def test_no_file_and_no_url_raises(content: bytes | str, url: str) -> None:
    robots = parse(content)
    assert robots.allows(url, "Weaver") in (True, False)
    assert robots.allows("/robots.txt", "Weaver")
    delay = robots.crawl_delay("Weaver")
    assert delay is None or (math.isfinite(delay) and delay >= 0)
    assert all(sitemap.startswith("https://site.example/") for sitemap in robots.sitemaps)


@given(st.lists(rules, max_size=6), paths)
def test_escaping_a_url_frees_nothing(rules: list[tuple[str, str]], path: str) -> None:
    robots = parse("\n".join(lines((["*"], rules))))
    escaped = path.replace("a", "%61").replace("b", "%62")
    if not robots.allows(SITE + path, "Weaver"):
        assert not robots.allows(SITE + escaped, "Weaver")


@given(st.integers(0, 40), st.sampled_from([b"\n", b"\r", b"\r\n"]))
def test_what_was_cut_is_not_cut_again(beyond: int, end: bytes) -> None:
    content = (b"Disallow: /private" + end) * (bounds.ROBOTS_MAX_BYTES // 18) + b"x" * beyond
    once = bounded(content)
    assert len(once) <= bounds.ROBOTS_MAX_BYTES
    assert content.startswith(once)
    assert bounded(once) == once
