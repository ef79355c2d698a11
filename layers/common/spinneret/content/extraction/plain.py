"""Converts rendered Markdown to plain text, as a reader sees it: without marks and addresses."""

import re
from typing import Final

from spinneret.content.extraction.targets import without_targets

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})[^`\n]*")
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}[ \t]+")
_QUOTE: Final = re.compile(r"^(?:[ \t]*>[ \t]?)+")
_RULE: Final = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_CELLS: Final = re.compile(r"(?:(?<![ \t])[ \t]++)?(?<!\\)\|[ \t]*+")  # reads each blank once
_GAP: Final = re.compile(r"(?<=\S) {2,}")  # left by a removed picture
# Code spans contain no marks; a run of ticks is read once, as a whole. Emphasis begins and ends at
# words.
_MARKED: Final = re.compile(
    r"(?P<code>(?<!(?<!\\)`)(?P<ticks>`++)(?P<inside>[^\n]{1,2000}?)(?<!`)(?P=ticks)(?!`))"
    r"|(?<![*\\])(?P<stars>\*{1,3}|~~)(?=\S)(?P<words>[^*~\n]{1,2000}?)(?<=\S)(?P=stars)(?!\*)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
)


def plain_text(markdown: str) -> str:
    """Return plain text with unchanged lines; table cells are separated by tabs, list marks
    stay."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        opening = _FENCE.fullmatch(line)
        if fence:
            if opening is not None and opening[1].startswith(fence):
                fence = ""
            else:
                lines.append(line)
        elif opening is not None:
            fence = opening[1]
        elif not _RULE.fullmatch(line):
            lines.append(_plain_line(without_targets(line)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _plain_line(line: str) -> str:
    line = _HEADING.sub("", _QUOTE.sub("", line, count=1), count=1)
    if line.lstrip().startswith("|"):
        line = "\t".join(_CELLS.split(line.strip())).strip("\t")
    return _GAP.sub(" ", _MARKED.sub(_bare, line))


def _bare(match: re.Match[str]) -> str:
    if match["code"]:
        return match["inside"].strip(" ") if match["inside"].strip() else match["inside"]
    if match["stars"]:
        return _MARKED.sub(_bare, match["words"])
    return match["escaped"]
