"""Figures about the text of a page: words, fingerprint, top term, broken characters."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final, cast

from lxml import etree, html

from spinneret.audits.facts.markup import MAX_TEXT_CHARS, squeezed
from spinneret.audits.facts.models import TextFacts
from spinneret.content.documents.signatures import signature

MAX_HIDDEN: Final = 10
HIDDEN_WORDS: Final = 8
"""Minimum number of words; shorter hidden texts are labels for screen readers."""
HIDDEN_CHARS: Final = 120

SIGNED_WORDS: Final = 100
"""Minimum number of words; near duplicates of shorter texts are often accidental."""

SIGNED_WORDS_MAX: Final = 5000  # 50 ms

_FILLER: Final = re.compile(r"\blorem\s+ipsum\s+dolor\s+sit\s+amet\b", re.IGNORECASE)
# Faster than lxml's itertext, which creates an element for each node.
_TEXTS: Final = etree.XPath(".//text()", smart_strings=False)
_UNSEEN: Final = ("script", "style", "template", "noscript", "svg", "iframe", "object", "canvas")
# Kana and Han have no blanks between words.
_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_TERM_LETTERS: Final = 4
_BROKEN: Final = re.compile(
    "\N{REPLACEMENT CHARACTER}"
    "|\N{LATIN CAPITAL LETTER A WITH TILDE}[\u0080-\u00bf\u0178\u0192\u02c6]"
    "|\N{LATIN SMALL LETTER A WITH CIRCUMFLEX}\N{EURO SIGN}[\u0080-\u00bf\u2018-\u2022\u2122\u0153]"
)
# Ways to hide text that no menu or fold needs (Google's spam policies).
_HIDING: Final = re.compile(
    r"font-size\s*:\s*0(?![.\d]*[1-9])|text-indent\s*:\s*-\d{3,}|(?:left|top)\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
# Frequent words in four languages, which are never a page's subject.
_STOP_TEXT: Final = """
    about after again also another because been before being between both call could does each
    even every example first following from have here into just like made make many more most
    much must need only other over page same should some such than that their them then there
    these they this those through time under used using very want well were what when where
    which while will with without would your
    aber alle allem allen aller alles auch auf beim bereits bitte damit dann dass dein deine dem
    denn diese diesem diesen dieser dieses doch durch eine einem einen einer eines etwa haben
    hier ihre ihrem ihren ihrer immer jede jeder kann kein keine können mehr mein mit muss nach
    nicht noch oder ohne sein seine seiner sich sind sowie über unter unsere unser viel vom wenn
    werden wird wurde zum zur zwischen
    ainsi alors après aussi autre autres avant avec avoir bien cela ces cette ceux chaque comme
    dans depuis donc elle elles encore entre être faire fait leur leurs mais même moins notre
    nous nos ont par parce pas plus pour quand que quel quelle sans ses sont sous sur tous tout
    toute toutes très une vers votre vous
    además algo antes aunque cada como con contra cual cuando desde donde durante ella ellos
    entonces entre era esta estas este esto estos hace hacia hasta más mientras mismo mucho muy
    nada nuestro otra otro otros para pero poco porque puede pueden que quien sino sobre sólo
    son también tanto tiene todo todos una unos usted
"""
_STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


def text_facts(body: html.HtmlElement) -> TextFacts:
    """Return the text facts of a body.

    Removes invisible elements from the tree, so it must be called after all other facts are read.
    """
    hidden = _hidden(body)
    etree.strip_elements(body, *_UNSEEN, with_tail=False)
    text = " ".join(_texts(body))
    words = _WORD.findall(text.lower())
    if not words:
        return TextFacts(broken_characters=_broken(text), hidden=hidden)
    # Menus repeat the site's subject, and code repeats names.
    etree.strip_elements(body, "a", "pre", "code", with_tail=False)
    prose = _WORD.findall(" ".join(_texts(body)).lower())
    term, count = _top_term(prose)
    return TextFacts(
        words=len(words),
        fingerprint=hashlib.sha256(" ".join(words).encode()).hexdigest()[:16],
        prose_words=len(prose),
        top_term=term,
        top_count=count,
        broken_characters=_broken(text),
        hidden=hidden,
        signature=(signature(" ".join(prose[:SIGNED_WORDS_MAX])) or "")
        if len(prose) >= SIGNED_WORDS
        else "",
        placeholder=_placeholder(text),
    )


def _placeholder(text: str) -> str:
    found = _FILLER.search(text)
    return " ".join(text[found.start() :][:HIDDEN_CHARS].split()) if found else ""


def _texts(element: etree._Element) -> list[str]:
    return cast("list[str]", _TEXTS(element))


def _top_term(words: Iterable[str]) -> tuple[str, int]:
    counts = Counter(word for word in words if len(word) >= _TERM_LETTERS and word.isalpha())
    ranked = ((term, count) for term, count in counts.most_common() if term not in _STOP_WORDS)
    term, count = next(ranked, ("", 0))
    return term[:50], count


def _broken(text: str) -> int:
    return len(_BROKEN.findall(text))


def _hidden(body: html.HtmlElement) -> tuple[str, ...]:
    found: list[str] = []
    styled = iter(body.xpath(".//*[@style]"))
    for element in styled:
        if len(found) < MAX_HIDDEN and _HIDING.search(element.get("style")):
            text = " ".join(_texts(element))
            if len(text.split()) >= HIDDEN_WORDS:
                found.append(" ".join(text.split())[:HIDDEN_CHARS])
            # Elements in it hide no other text; reading each of them again may take minutes.
            inner = int(element.xpath("count(.//*[@style])"))
            next(islice(styled, inner, inner), None)
    return tuple(found)


def spoken_texts(root: html.HtmlElement, tags: Collection[str]) -> dict[html.HtmlElement, str]:
    """Return elements with their texts as screen readers read them: label, text, or labels within.

    An element within another one doesn't belong to its text: a browser would have closed the outer
    one. So one walk suffices; reading thousands of nested elements one by one takes minutes.
    """
    parts: dict[html.HtmlElement, tuple[list[str], list[str]]] = {}
    owners: list[html.HtmlElement | None] = [None]
    for event, each in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            owners.pop()
            if (owner := owners[-1]) is not None and each.tail:
                parts[owner][0].append(each.tail)
            continue
        owner = owners[-1]
        if each.tag in tags:
            owner = each
            parts[each] = [], []
        elif owner is not None and (each.tag == "img" or each.get("aria-label")):
            parts[owner][1].append(each.get("alt") or each.get("aria-label") or "")
        owners.append(owner)
        if owner is not None and each.text:
            parts[owner][0].append(each.text)
    return {each: _spoken(each, *of_each) for each, of_each in parts.items()}


def _spoken(element: html.HtmlElement, texts: list[str], names: list[str]) -> str:
    label, title = element.get("aria-label") or "", element.get("title") or ""
    found = map(squeezed, (label, "".join(texts), " ".join(names), title))
    return next(filter(None, found), "")[:MAX_TEXT_CHARS]
