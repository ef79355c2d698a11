"""A generated website full of traps; each response is a pure function of the requested target.

A page has a *name*: its path and its sorted query without session ids. A link names the page that
it leads to, in addition to its spelling, so that the oracle needs no URL parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final
from zlib import crc32

OUTSIDE: Final = "http://outside.example/"
HTML: Final = "text/html; charset=utf-8"
ROBOTS: Final = "User-agent: *\nDisallow: /closed/\nAllow: /closed/open\n"
KEYWORD: Final = "silk"
_ITEMS: Final = 4
_FAR: Final = 12
"""Consecutive redirects, two more than a crawl follows."""
_SESSION: Final = re.compile(r";jsessionid=(\d+)|/\(S\((\d+)\)\)|[?&]PHPSESSID=(\d+)")
_SESSIONS: Final = re.compile(r";jsessionid=\d+|/\(S\(\d+\)\)")
_SID: Final = "sid=9f8e7d6c5b4a39281706"


@dataclass(frozen=True)
class Link:
    """A link; `to` is the name of its page, or None if it leads out of the site."""

    href: str
    to: str | None
    rel: str = ""

    @property
    def text(self) -> str:
        """Return the link text, which is the same for all links to a page."""
        return words_of(self.to or self.href)


@dataclass(frozen=True)
class Node:
    """One page of the site."""

    links: tuple[Link, ...] = ()
    status: int = 200
    to: str | None = None
    """Name of the redirect's target; OUTSIDE is outside the site."""
    text: str | None = None
    """Text of the page; None means its name. Pages of the same text and links are equal."""
    base: str | None = None
    media_type: str = HTML
    seconds: float = 0.0
    """Seconds until the site responds."""

    @property
    def is_page(self) -> bool:
        """Return whether the page has content for a crawl."""
        return self.status == 200 and self.media_type == HTML and self.text != ""


@dataclass(frozen=True)
class Answer:
    """Response of the site."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0.0


def words_of(name: str) -> str:
    """Return the text of every link to a page; three of four texts contain KEYWORD."""
    about = "" if crc32(name.encode()) % 4 == 0 else f" of {KEYWORD}"
    return f"part {crc32(name.encode())}{about}"


def _to(name: str, **given: str) -> Link:
    return Link(name, name, **given)


@dataclass(frozen=True)
class TrapSite:
    """A site of `ordinary` ordinary pages; each links to others and to some of the traps."""

    ordinary: int
    year: int
    """Current year; the calendar has pages beyond the next year."""
    is_long: bool = False
    """Whether the site also has the traps that cost a crawl tens of pages each."""

    # ------------------------------------------------------------ Responses

    def name_of(self, target: str) -> str:
        """Return the name of the page at a path with its query."""
        path, _, query = _SESSIONS.sub("", target).partition("?")
        kept = [each for each in query.split("&") if each and not each.startswith("PHPSESSID=")]
        kept = sorted(each for each in kept if each != _SID)
        return path + (f"?{'&'.join(kept)}" if kept else "")

    def answer(self, target: str) -> Answer:
        """Return the response to a request; the links of a session lead to the next session."""
        name = self.name_of(target)
        if name == "/robots.txt":
            return Answer(200, {"Content-Type": "text/plain"}, ROBOTS.encode())
        node = self.node(name) or Node(status=404, links=(_to("/beyond/errors"),))
        if node.to is not None:
            return Answer(302, {"Location": node.to, "Content-Type": "text/plain"}, b"")
        headers = {"Content-Type": node.media_type}
        if node.status == 429:
            headers["Retry-After"] = "1"
        found = _SESSION.search(target)
        session = int(next(filter(None, found.groups()))) if found else 0
        body = _rendered(name, node).replace("{session}", str(session + 1))
        return Answer(node.status, headers, body.encode(), node.seconds)

    # ------------------------------------------------------------ The graph

    def node(self, name: str) -> Node | None:
        """Return the page of a name; None if the site has none."""
        if name == "/":
            return Node((*map(_page, range(min(3, self.ordinary))), *_OUT, Link("/#top", "/")))
        if name.startswith("/page/") and (number := int(name[6:])) < self.ordinary:
            return self._ordinary(number)
        family = _FAMILIES.get(name.split("/")[1].partition("?")[0])
        if name == "/calendar":
            return Node((_to(f"/calendar/{self.year + 1}-10"),))
        return _FIXED.get(name) or (family(name) if family else None)

    def _ordinary(self, number: int) -> Node:
        """Return an ordinary page of a tree with links across and back; the first ones link to
        traps.
        """
        near = (3 * number + 3, 3 * number + 4, 3 * number + 5, (7 * number + 3) % self.ordinary)
        links = [_page(each) for each in near if each < self.ordinary]
        back = f"/page/{number // 3 - 1}" if number > 2 else "/"
        links.append(Link(f"{back}#comments", back))
        heads = (*_HEADS, *_LONG_HEADS) if self.is_long else _HEADS
        links += [each for at, each in enumerate(heads) if at % self.ordinary == number]
        return Node(tuple(links))


def _page(number: int) -> Link:
    return _to(f"/page/{number}")


def _rendered(name: str, node: Node) -> str:
    about = name if node.text is None else node.text
    if about == "":
        return "<html><body></body></html>"
    base = f'<base href="{node.base}">' if node.base else ""
    sentence = f"This part of the collection is about {escape(about)} and about nothing else."
    links = "".join(
        f'<li><a href="{escape(link.href)}" rel="{link.rel}">{link.text}</a></li>'
        for link in node.links
    )
    return (
        f"<!doctype html><html lang=en><head><title>{escape(about)}</title>{base}</head><body>"
        f"<main><h1>{escape(about)}</h1><p>{sentence}</p><p>{sentence}</p></main>"
        f"<nav><ul>{links}</ul></nav></body></html>"
    )


# ---------------------------------------------------------------- Traps


def _item(number: int) -> str:
    return f"/item?id={number}&lang=en&tab=1"


def _item_links(number: int) -> Iterator[Link]:
    """Yield links to one page in many spellings; only a tracking parameter makes another URL."""
    name = _item(number)
    tracked = f"{name}&utm_source=mail"
    yield Link(f"/item?tab=1&id={number}&lang=en", name)
    yield Link(f"/item?lang=en&PHPSESSID={{session}}&tab=1&id={number}", name)
    yield Link(f"{name}&{_SID}", name)
    yield Link(name, name)
    yield Link(f"/item?utm_source=mail&id={number}&lang=en&tab=1", tracked)


def _shop(name: str) -> Node | None:
    numbers = {"/shop": range(_ITEMS), "/shop/more": range(_ITEMS - 1, -1, -1)}.get(name)
    if numbers is None:
        return None
    items = [link for number in numbers for link in _item_links(number)]
    return Node((*items, _to("/shop/more"), _to("/shop")))


def _one_item(name: str) -> Node | None:
    for number in range(_ITEMS):
        if name in {_item(number), f"{_item(number)}&utm_source=mail"}:
            links = (*_item_links((number + 1) % _ITEMS), _to("/shop"))
            return Node(links, text=f"item {number}")
    return None


def _calendar(name: str) -> Node | None:
    """Return a calendar page, which always links to the next three months."""
    found = re.fullmatch(r"/calendar/(\d{4})-(\d\d)", name)
    if not found:
        return None
    month = 12 * int(found[1]) + int(found[2]) - 1
    return Node(tuple(_to(f"/calendar/{m // 12}-{m % 12 + 1:02}") for m in _steps(month, 3)))


def _archive(name: str) -> Node | None:
    """Return an archive page, which always links to the twelve months before."""
    found = re.fullmatch(r"/archive/(\d{4})/(\d\d)", name)
    if not found:
        return None
    month = 12 * int(found[1]) + int(found[2]) - 1
    before = (month - back for back in range(1, 13))
    return Node(tuple(_to(f"/archive/{m // 12}/{m % 12 + 1:02}") for m in before))


def _steps(number: int, most: int) -> range:
    return range(number + 1, number + 1 + most)


def _rings(name: str) -> Node | None:
    """Return a page with a relative link that leads one level deeper."""
    step = "loop/" if name.startswith("/loop/") else "east/west/"
    return Node((Link(step, name + step),)) if name.endswith("/") else None


def _maze(name: str) -> Node | None:
    """Return a page of nested folders that all have different names."""
    at = len(name.strip("/").split("/")) - 1
    if name != f"/maze/{''.join(f'{n}/' for n in range(1, at + 1))}":
        return None
    below = ["".join(f"{n}/" for n in range(at + 1, last + 1)) for last in _steps(at, 4)]
    return Node(tuple(Link(each, name + each) for each in below))


def _facets(name: str) -> Node | None:
    """Return a page of filters that can be combined, with links that add one to five more."""
    _, _, query = name.partition("?")
    at = len(query.split("&")) if query else 0
    return Node(tuple(_to(_with_facets(count)) for count in _steps(at, 5)))


def _with_facets(count: int) -> str:
    return f"/facets?{'&'.join(f'f{n:02}=1' for n in range(1, count + 1))}"


def _far(name: str) -> Node | None:
    """Return a redirect of a chain of consecutive redirects."""
    number = int(name.rpartition("/")[2])
    to = f"/far/{number + 1}" if number < _FAR else "/beyond/redirects"
    return Node(status=302, to=to)


_FAMILIES: Final = {
    "shop": _shop,
    "item": _one_item,
    "calendar": _calendar,
    "archive": _archive,
    "loop": _rings,
    "rings": _rings,
    "maze": _maze,
    "facets": _facets,
    "far": _far,
}
_COPIES: Final = tuple(_to(f"/copy/{number}") for number in (1, 2, 3))
_FIXED: Final = {
    **{link.href: Node((*_COPIES, _to("/copied")), text="a copy") for link in _COPIES},
    "/copied": Node(),
    "/basket": Node(
        (
            Link("/basket;jsessionid={session}", "/basket"),
            Link("/(S({session}))/basket", "/basket"),
            Link("/checkout;jsessionid={session}", "/checkout"),
        )
    ),
    "/checkout": Node((Link("/(S({session}))/basket", "/basket"),)),
    "/moved/one": Node(status=302, to="/moved/other"),
    "/moved/other": Node(status=302, to="/moved/one"),
    "/moved/self": Node(status=302, to="/moved/self"),
    "/moved/in": Node(status=302, to="/target/1"),
    "/moved/known": Node(status=302, to="/page/1"),
    "/moved/chain/1": Node(status=302, to="/moved/chain/2"),
    "/moved/chain/2": Node(status=302, to="/moved/chain/3"),
    "/moved/chain/3": Node(status=302, to="/target/2"),
    "/moved/out": Node(status=302, to=OUTSIDE),
    "/moved/closed": Node(status=302, to="/closed/secret"),
    "/moved/endless": Node(status=302, to="/loop/loop/loop/"),
    "/folder": Node(status=302, to="/folder/"),
    "/folder/": Node((Link("leaf", "/folder/leaf"),)),
    "/folder/leaf": Node((Link("../target/1", "/target/1"), Link("./", "/folder/"))),
    "/target/1": Node((_to("/target/3"),)),
    "/target/2": Node(),
    "/target/3": Node(),
    "/error/404": Node(status=404, links=(_to("/beyond/errors"),)),
    "/error/500": Node(status=500, links=(_to("/beyond/errors"),)),
    "/error/429": Node(status=429),
    "/file": Node(media_type="application/pdf"),
    "/empty": Node(text=""),
    "/closed/one": Node(),
    "/closed/secret": Node(),
    "/closed/open": Node(),
    "/ranked": Node((_to("/unranked", rel="nofollow"),)),
    "/unranked": Node(),
    "/based": Node(
        (Link("leaf", "/deep/folder/leaf"), Link("../other?x=1#part", "/deep/other?x=1")),
        base="/deep/folder/",
    ),
    "/deep/folder/leaf": Node(),
    "/deep/other?x=1": Node(),
    "/slow": Node((_to("/after/slow"),), seconds=0.4),
    "/after/slow": Node(),
}
_OUT: Final = (
    Link(OUTSIDE, None),
    Link("//outside.example/page", None),
    Link("mailto:somebody@outside.example", None),
    Link("javascript:void(0)", None),
    Link("ftp://outside.example/file", None),
)
_HEADS: Final = (
    _to("/moved/one"),
    _to("/moved/other"),
    _to("/error/404"),
    _to("/shop"),
    _to("/moved/self"),
    _to("/moved/in"),
    _to("/calendar"),
    _to("/moved/known"),
    _to("/error/500"),
    _COPIES[2],
    _COPIES[0],
    _to("/basket"),
    _to("/moved/chain/1"),
    _to("/moved/chain/3"),
    _to("/moved/out"),
    _to("/moved/closed"),
    _to("/moved/endless"),
    _to("/loop/"),
    _to("/rings/"),
    _to("/folder"),
    _to("/error/429"),
    _to("/file"),
    _to("/empty"),
    _to("/closed/one"),
    _to("/closed/open"),
    _to("/ranked"),
    _to("/based"),
    _to("/slow"),
    _to("/far/0"),
)
_LONG_HEADS: Final = (_to("/archive/2020/12"), _to("/maze/"), _to("/facets"))
