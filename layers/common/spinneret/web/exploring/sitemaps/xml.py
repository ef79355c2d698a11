"""Sitemaps, indexes and feeds as XML, parsed while they arrive.

expat of the standard library parses: no DOM, no network, no file. Declarations of entities other
than the five of XML are rejected, so that none can be expanded or fetched.

The prefix of the root element determines the namespace: `image:loc` inside a `urlset` isn't the
page's, `sm:loc` inside `sm:urlset` is.
"""

from typing import Final, NamedTuple
from xml.parsers import expat

from spinneret.kernel import bounds
from spinneret.web.exploring import limits
from spinneret.web.exploring.sitemaps.models import Ending, SitemapKind

_ROOTS: Final = {
    "urlset": SitemapKind.URLSET,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.RSS,
    "RDF": SitemapKind.RSS,
    "feed": SitemapKind.ATOM,
}
_ENTRIES: Final = {
    SitemapKind.URLSET: "url",
    SitemapKind.INDEX: "sitemap",
    SitemapKind.RSS: "item",
    SitemapKind.ATOM: "entry",
}
_FIELDS: Final = {
    SitemapKind.URLSET: {"loc": "url", "lastmod": "date"},
    SitemapKind.INDEX: {"loc": "url", "lastmod": "date"},
    SitemapKind.RSS: {"link": "url", "guid": "guid", "pubDate": "date", "dc:date": "date"},
    SitemapKind.ATOM: {"updated": "date", "published": "first_date"},
}
_TEXT_MAX_CHARS: Final = 4 * bounds.URL_MAX_CHARS
_PARSE_BYTES: Final = 64 * 1024  # per call, so that an unfinished token is noticed soon
_ALTERNATE: Final = frozenset({None, "", "alternate"})


class RawEntry(NamedTuple):
    """Unparsed texts of an entry."""

    url: str
    date: str


class SitemapRefused(Exception):
    """Raised to stop reading the document."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.value)
        self.ending = ending


class XmlReader:
    """Parses a document in chunks; returns entries as soon as they are complete."""

    def __init__(self, encoding: str | None = None) -> None:
        """`encoding` replaces the one that the document declares."""
        self.kind = SitemapKind.UNKNOWN
        self._found: list[RawEntry] = []
        self._path: list[str] = []
        self._prefix = ""
        self._entry: dict[str, str] | None = None
        self._entry_name = ""
        self._fields: dict[str, str] = {}
        self._field: str | None = None
        self._text: list[str] = []
        self._length = 0
        self._fed = 0
        self._parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._names_type
        parser.EntityDeclHandler = self._declares
        parser.SkippedEntityHandler = self._skips

    def feed(self, data: bytes) -> list[RawEntry]:
        """Return the entries that this chunk completes.

        Raises SitemapRefused, possibly after entries were found; `taken` returns those.
        """
        for start in range(0, len(data), _PARSE_BYTES):
            self._parse(data[start : start + _PARSE_BYTES], is_final=False)
        return self.taken()

    def close(self) -> list[RawEntry]:
        """End the document. Raises SitemapRefused if it is incomplete."""
        self._parse(b"", is_final=True)
        return self.taken()

    def taken(self) -> list[RawEntry]:
        """Return complete entries that weren't returned yet."""
        found, self._found = self._found, []
        return found

    def _parse(self, data: bytes, *, is_final: bool) -> None:
        try:
            self._parser.Parse(data, is_final)
        except (expat.ExpatError, LookupError, ValueError) as error:
            # The last two are Python's, for an encoding of several bytes or an unknown one.
            raise SitemapRefused(Ending.MALFORMED) from error
        self._fed += len(data)
        # expat scans an unfinished token from its start again with every chunk.
        if self._fed - max(self._parser.CurrentByteIndex, 0) > limits.SITEMAP_TOKEN_MAX_BYTES:
            raise SitemapRefused(Ending.MALFORMED)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path:
            self._begin(name)
        if len(self._path) == limits.SITEMAP_XML_DEPTH_MAX:
            raise SitemapRefused(Ending.MALFORMED)
        self._path.append(name)
        local = self._local(name)
        if self._entry is None:
            if local == self._entry_name:
                self._entry = {}
        elif self._path[-2] == self._prefixed(self._entry_name):
            self._start_field(local, attributes)

    def _begin(self, name: str) -> None:
        prefix, _, local = name.rpartition(":")
        self._prefix = prefix
        self.kind = _ROOTS.get(local, SitemapKind.UNKNOWN)
        if self.kind is SitemapKind.UNKNOWN:
            raise SitemapRefused(Ending.NOT_A_SITEMAP)
        if local == "RDF":
            self._prefix = ""  # RSS 1.0: `rdf:RDF` holds `item`
        self._entry_name = _ENTRIES[self.kind]
        self._fields = _FIELDS[self.kind]

    def _start_field(self, local: str, attributes: dict[str, str]) -> None:
        assert self._entry is not None
        if self.kind is SitemapKind.ATOM and local == "link":
            if attributes.get("rel") in _ALTERNATE:
                self._entry.setdefault("url", attributes.get("href", ""))
        elif local in self._fields:
            self._field = self._fields[local]
            if self._field == "guid" and attributes.get("isPermaLink", "true") != "true":
                self._field = None
            if self._field is not None:
                self._text, self._length = [], 0
                self._parser.CharacterDataHandler = self._characters

    def _characters(self, text: str) -> None:
        self._length += len(text)
        if self._length <= _TEXT_MAX_CHARS:  # a longer one is no URL and no date
            self._text.append(text)

    def _end(self, name: str) -> None:
        self._path.pop()
        if self._entry is None:
            return
        if name == self._prefixed(self._entry_name):
            self._finish(self._entry)
            self._entry = None
        elif self._field is not None and self._path[-1] == self._prefixed(self._entry_name):
            is_whole = self._length <= _TEXT_MAX_CHARS
            self._entry.setdefault(self._field, "".join(self._text) if is_whole else "")
            self._field = None
            self._parser.CharacterDataHandler = None

    def _finish(self, entry: dict[str, str]) -> None:
        url = (entry.get("url") or entry.get("guid", "")).strip()
        if url:
            date = entry.get("date") or entry.get("first_date", "")
            self._found.append(RawEntry(url, date))

    def _names_type(self, name: str, *_: object) -> None:
        if name.lower() == "html":  # what follows is rarely XML
            raise SitemapRefused(Ending.NOT_A_SITEMAP)

    def _declares(self, *_: object) -> None:
        raise SitemapRefused(Ending.ENTITIES)

    def _skips(self, *_: object) -> None:
        raise SitemapRefused(Ending.ENTITIES)

    def _local(self, name: str) -> str:
        """Return the name without the root's prefix; another prefix stays."""
        return name.removeprefix(f"{self._prefix}:") if self._prefix else name

    def _prefixed(self, local: str) -> str:
        return f"{self._prefix}:{local}" if self._prefix else local
