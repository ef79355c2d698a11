"""Parses markup in bounded time and memory, without network access or entities.

Three measures keep hostile markup cheap. Nesting beyond 2048 levels is refused, since libxml2 would
silently drop the rest of the page. Tags with hundreds of attributes lose them, since libxml2 takes
quadratic time (6 s for 20,000). The number of elements is bounded, and later passes are linear in
it.
"""

import re
from typing import Final

from lxml import etree, html

from spinneret.kernel.errors import ContentRefused

MAX_ELEMENTS: Final = 500_000
"""Real pages of 1.5 MB have some 20,000; this many take about 12 s and 450 MB to extract."""

_MAX_ATTRIBUTES: Final = 256  # more than in any of the 600,000 tags of 410 real pages
_SCAN_FROM_CHARS: Final = 1024  # shorter tags have at most 512 attributes
# Every tag matches at its first character and at most once, so the scan is linear. Quotes only
# count after an equals sign, as in the HTML standard's tokeniser.
_TAG: Final = re.compile(r"""<([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"?|'[^']*+'?)?)*+)>?""")
_ATTRIBUTE: Final = re.compile(r"""[^\s/=]++(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s"']++)?)?""")
_SURROGATE: Final = re.compile(  # a reference to half a character, which lxml can't decode
    r"&#(?:x0*[dD][89a-fA-F][0-9a-fA-F]{2}|0*(?:5529[6-9]|55[3-9]\d\d|56\d{3}|57[0-2]\d\d"
    r"|573[0-3]\d|5734[0-3]));"
)
_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32)])


def spared(text: str) -> str:
    """Return HTML without the attributes of tags that have hundreds of them.

    Parsers compare each name with all previous ones: libxml2 takes 6 s for 20,000, html5ever 10 s
    for 60,000.
    """
    return _TAG.sub(_spare, text)


def parse_html(text: str) -> html.HtmlElement:
    """Return the document's root without comments and processing instructions.

    `text` has passed `spared`. Raises ContentRefused if the page is empty (`empty`), or nested too
    deep or too large (`too_complex`).
    """
    parser = html.HTMLParser(
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
        no_network=True,
        huge_tree=True,  # without it, libxml2 truncates a page at its first text over 10 MB
    )
    try:
        root = html.document_fromstring(_as_bytes(text), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise _refused("empty") from error
    _check_limits(root, parser)
    return root


def parse_xhtml(text: str) -> html.HtmlElement:
    """Parse XHTML like `parse_html`; malformed XML is parsed as HTML, like in browsers."""
    parser = html.XHTMLParser(
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
        resolve_entities=False,
        no_network=True,
    )
    try:
        root = html.document_fromstring(_as_bytes(text), parser=parser, ensure_head_body=False)
    except (etree.LxmlError, ValueError):
        return parse_html(spared(text))
    html.xhtml_to_html(root)
    if root.tag != "html" or root.find("body") is None or _has_entities(root):
        return parse_html(spared(text))
    _check_limits(root, parser)
    return root


def parse_xml(text: str) -> etree._Element:
    """Return the root of any XML; malformed parts are skipped, internal entities stay unexpanded.

    Raises ContentRefused if the text isn't XML (`malformed`), or too deep or too large
    (`too_complex`).
    """
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(_as_bytes(_SURROGATE.sub("\ufffd", text)), parser)
    except (etree.LxmlError, ValueError) as error:
        raise _refused("malformed") from error
    if root is None:
        raise _refused("malformed")
    _check_limits(root, parser)
    return root


def local_name(element: etree._Element) -> str:
    """Return the tag without its namespace, or without its prefix, which may be undeclared."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def _as_bytes(text: str) -> bytes:
    # For bytes, the parser's encoding overrides a declared one. Lone surrogates and control
    # characters are replaced or removed, since XML, and so lxml's trees, can't contain them.
    return text.encode("utf-8", "replace").translate(None, _CONTROLS)


def _spare(tag: re.Match[str]) -> str:
    attributes = tag[2]
    if len(attributes) < _SCAN_FROM_CHARS:
        return tag[0]
    if sum(1 for _ in _ATTRIBUTE.finditer(attributes)) <= _MAX_ATTRIBUTES:
        return tag[0]
    # A comparison in a script (`a<b`) looks like a tag, too; its end tag must stay.
    end_tag = tag[0].find("</")
    return f"<{tag[1]}>{tag[0][end_tag:] if end_tag >= 0 else ''}"


def _check_limits(root: etree._Element, parser: etree.XMLParser | html.HTMLParser) -> None:
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise _refused("too_complex")
    if sum(1 for _ in root.iter()) > MAX_ELEMENTS:
        raise _refused("too_complex")


def _has_entities(root: etree._Element) -> bool:
    return next(root.iter(etree.Entity), None) is not None


def _refused(reason: str) -> ContentRefused:
    messages = {
        "empty": "the page holds no text",
        "malformed": "the page is not XML",
        "too_complex": "the page's markup is too large or nested too deep",
    }
    return ContentRefused(messages[reason], details={"reason": reason})
