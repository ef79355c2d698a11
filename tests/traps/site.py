"""A generated website that is full of traps: what it answers is a pure function of what is asked.

A page has a *name*, its path and its sorted query without session ids; links say which page they
mean beside how they spell it, so that who knows the site needs no parser of URLs.
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
"""Redirects in a row, two more than a crawl follows."""
_SESSION: Final = re.compile(r";jsessionid=(\d+)|/\(S\((\d+)\)\)|[?&]PHPSESSID=(\d+)")
_SESSIONS: Final = re.compile(r";jsessionid=\d+|/\(S\(\d+\)\)")
_SID: Final = "sid=9f8e7d6c5b4a39281706"


@dataclass(frozen=True)
class Link:
    """A link and the page that it means; None for one that leads out of the site."""

    href: str
    to: str | None
    rel: str = ""

    @property
    def text(self) -> str:
        """The same for all links to a page."""
        return words_of(self.to or self.href)


@dataclass(frozen=True)
class Node:
    """One page."""

    links: tuple[Link, ...] = ()
    status: int = 200
    to: str | None = None
    """Where it redirects, as a name; OUTSIDE leads out."""
    text: str | None = None
    """Pages of the same text and links are equal; its name where it is None."""
    base: str | None = None
    media_type: str = HTML
    seconds: float = 0.0
    """Until it answers."""

    @property
    def is_page(self) -> bool:
        """Whether a crawl has something of it."""
        return self.status == 200 and self.media_type == HTML and self.text != ""


@dataclass(frozen=True)
class Answer:
    """What the site sends."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0.0


def words_of(name: str) -> str:
    """What every link says of a page; three of four are about KEYWORD."""
    about = "" if crc32(name.encode()) % 4 == 0 else f" of {KEYWORD}"
    return f"part {crc32(name.encode())}{about}"


def _to(name: str, **given: str) -> Link:
    return Link(name, name, **given)


@dataclass(frozen=True)
class TrapSite:
    """So many ordinary pages, each of which links to others and to some of the traps."""

    ordinary: int
    year: int
    """The present one: a calendar goes beyond the next."""
    is_long: bool = False
    """Whether it has those traps besides that cost a crawl tens of pages each."""

    # ------------------------------------------------------------ What a server needs

    def name_of(self, target: str) -> str:
        """The page that a path with its query means."""
        path, _, query = _SESSIONS.sub("", target).partition("?")
        kept = [each for each in query.split("&") if each and not each.startswith("PHPSESSID=")]
        kept = sorted(each for each in kept if each != _SID)
        return path + (f"?{'&'.join(kept)}" if kept else "")

    def answer(self, target: str) -> Answer:
        """Every session leads on to the next one."""
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
        """None where the site has no page."""
        if name == "/":
            return Node((*map(_page, range(min(3, self.ordinary))), *_OUT, Link("/#top", "/")))
        if name.startswith("/page/") and (number := int(name[6:])) < self.ordinary:
            return self._ordinary(number)
        family = _FAMILIES.get(name.split("/")[1].partition("?")[0])
        if name == "/calendar":
            return Node((_to(f"/calendar/{self.year + 1}-10"),))
        return _FIXED.get(name) or (family(name) if family else None)

    def _ordinary(self, number: int) -> Node:
        """A tree with ways across and back; the traps hang at its first pages."""
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
    """One page under many names: only what a shop adds to follow its readers makes another URL."""
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
    """The next three months, for ever."""
    found = re.fullmatch(r"/calendar/(\d{4})-(\d\d)", name)
    if not found:
        return None
    month = 12 * int(found[1]) + int(found[2]) - 1
    return Node(tuple(_to(f"/calendar/{m // 12}-{m % 12 + 1:02}") for m in _steps(month, 3)))


def _archive(name: str) -> Node | None:
    """The twelve months before, for ever."""
    found = re.fullmatch(r"/archive/(\d{4})/(\d\d)", name)
    if not found:
        return None
    month = 12 * int(found[1]) + int(found[2]) - 1
    before = (month - back for back in range(1, 13))
    return Node(tuple(_to(f"/archive/{m // 12}/{m % 12 + 1:02}") for m in before))


def _steps(number: int, most: int) -> range:
    return range(number + 1, number + 1 + most)


def _rings(name: str) -> Node | None:
    """A relative link that leads below itself."""
    step = "loop/" if name.startswith("/loop/") else "east/west/"
    return Node((Link(step, name + step),)) if name.endswith("/") else None


def _maze(name: str) -> Node | None:
    """Folders in folders, each with another name."""
    at = len(name.strip("/").split("/")) - 1
    if name != f"/maze/{''.join(f'{n}/' for n in range(1, at + 1))}":
        return None
    below = ["".join(f"{n}/" for n in range(at + 1, last + 1)) for last in _steps(at, 4)]
    return Node(tuple(Link(each, name + each) for each in below))


def _facets(name: str) -> Node | None:
    """Filters that can be chosen together, one more each time."""
    _, _, query = name.partition("?")
    at = len(query.split("&")) if query else 0
    return Node(tuple(_to(_with_facets(count)) for count in _steps(at, 5)))


def _with_facets(count: int) -> str:
    return f"/facets?{'&'.join(f'f{n:02}=1' for n in range(1, count + 1))}"


def _far(name: str) -> Node | None:
    """Redirects, one after the other."""
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
