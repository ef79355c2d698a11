"""Remove active content from descriptions: marketplaces store scripts as they are sent."""

import html
from html.parser import HTMLParser
from typing import Final

_KEPT: Final = frozenset(
    {"p", "br", "b", "strong", "i", "em", "u", "ul", "ol", "li", "h1", "h2", "h3", "h4"}
)
_VOID: Final = frozenset({"br"})
_DROPPED: Final = frozenset({"script", "style", "iframe", "object", "template", "noscript", "svg"})
_BREAKS: Final = frozenset({"p", "br", "li", "h1", "h2", "h3", "h4", "ul", "ol", "div", "tr"})


def safe_html(text: str) -> str:
    """Return the text with a few allowed elements, without attributes. Other elements keep only
    their text, and scripts are dropped.

    In text without markup, line breaks become `<br>`.
    """
    if "<" not in text:
        return html.escape(text, quote=False).replace("\n", "<br>")
    reader = _Reader(keep=True)
    reader.feed(text)
    reader.close()
    return reader.result()


def plain_text(text: str) -> str:
    """Return the text without markup, for marketplaces that show none.

    The text is parsed until nothing changes. Some marketplaces store text but show it as a page,
    where markup that was escaped once must not become an element.
    """
    while "<" in text:
        reader = _Reader(keep=False)
        reader.feed(text)
        reader.close()
        lines = (" ".join(line.split()) for line in reader.result().split("\n"))
        bare = "\n".join(line for line in lines if line)
        if bare == text:
            break
        text = bare
    return text.strip()


class _Reader(HTMLParser):
    def __init__(self, *, keep: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._keep = keep
        self._parts: list[str] = []
        self._open: list[str] = []
        self._dropping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - attributes go
        if tag in _DROPPED:
            self._dropping += 1
        elif not self._dropping:
            self._begin(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - attributes go
        if tag not in _DROPPED and not self._dropping:
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _DROPPED:
            self._dropping = max(0, self._dropping - 1)
        elif not self._dropping and self._keep and tag in self._open:
            while self._open:
                last = self._open.pop()
                self._parts.append(f"</{last}>")
                if last == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._dropping:
            self._parts.append(html.escape(data, quote=False) if self._keep else data)

    def result(self) -> str:
        """Return the collected output, with every element closed."""
        ends = [f"</{tag}>" for tag in reversed(self._open)] if self._keep else []
        return "".join([*self._parts, *ends])

    def _begin(self, tag: str) -> None:
        if not self._keep:
            if tag in _BREAKS:
                self._parts.append("\n")
        elif tag in _KEPT:
            self._parts.append(f"<{tag}>")
            if tag not in _VOID:
                self._open.append(tag)
