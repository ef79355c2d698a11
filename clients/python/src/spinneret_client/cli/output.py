"""Results on stdout; progress, notes and errors on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Table

SCHEMA_VERSION: Final = 1
"""Version of the documents that `--json` prints; it rises if a field changes or is removed."""
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSAFE_IN_JSON: Final = re.compile("[\x7f-\x9f]")


class Output:
    """Prints each result once: as text, as one JSON document, or as lines of JSON."""

    def __init__(self, *, form: str = "text", quiet: bool = False) -> None:
        self.form = form
        self.quiet = quiet
        # Forced colours must not get into JSON or a file.
        plain = bool(os.environ.get("NO_COLOR"))  # if set and not empty (no-color.org)
        self.console = _Console(
            no_color=plain, highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty()
        )
        self.notes = _Console(
            stderr=True, no_color=plain, highlight=False, emoji=False, soft_wrap=True
        )

    @property
    def live(self) -> bool:
        """Whether progress bars are drawn."""
        return self.form == "text" and not self.quiet and sys.stderr.isatty()

    def result(self, value: Any, text: Callable[[], None]) -> None:
        """Print a result in the chosen form; `text` prints it as text."""
        with unread_at_will():
            if self.form == "json":
                document = plain_of(value)
                if not isinstance(document, dict):
                    document = {"items": document}
                self._json({"schema_version": SCHEMA_VERSION, **document})
            elif self.form == "jsonl":
                for each in value if isinstance(value, list) else [value]:
                    self._json({"type": "result", **plain_of(each)})
            else:
                text()

    def event(self, event: BaseModel) -> None:
        """Print an event as a line of JSON, if the chosen form is `jsonl`."""
        if self.form == "jsonl":
            self._json({"type": "event", **event.model_dump(mode="json")})

    def note(self, text: str) -> None:
        """Print a line on stderr, unless the output is quiet."""
        if not self.quiet:
            self.notes.print(as_markup(text))

    def problem(self, text: str) -> None:
        """Print an error on stderr."""
        self.notes.print(f"[red]error:[/red] {as_markup(text)}")

    def line(self, text: str, *, style: str = "") -> None:
        """Print a line of a text result."""
        self.console.print(as_markup(text), style=style)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print rows: as a table on a terminal, else with tabs between the fields."""
        if not self.console.is_terminal:
            for row in rows:
                sys.stdout.write("\t".join(_cell(each) for each in row) + "\n")
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(escape(_cell(each)) for each in row))
        self.console.print(table)

    def _json(self, document: Mapping[str, Any]) -> None:
        is_unicode = sys.stdout.encoding.lower().startswith("utf")
        text = json.dumps(document, ensure_ascii=not is_unicode)
        sys.stdout.write(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
        sys.stdout.flush()


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise the error for the command; the base class would end the process with code 1."""
        raise BrokenPipeError


@contextmanager
def unread_at_will() -> Iterator[None]:
    """Let the block print a result, even if the reader closes the pipe.

    The exit code still shows the outcome.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_the_rest(sys.stdout)


def drop_the_rest(stream: TextIO) -> None:
    """Discard all later writes to a broken stream, such as the interpreter's last flush."""
    try:
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def visible(text: str) -> str:
    """Return a text without control characters of a terminal; websites' texts may have some."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def as_markup(text: str) -> str:
    """Return markup that shows the text without control characters of a terminal."""
    return escape(visible(text))


def plain_of(value: Any) -> Any:
    """Return models as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list):
        return [plain_of(each) for each in value]
    if isinstance(value, dict):
        return {name: plain_of(each) for name, each in value.items()}
    return value


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:g}"
    return visible(" ".join(str(value).split()))
