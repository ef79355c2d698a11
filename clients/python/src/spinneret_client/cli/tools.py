"""Shared parts of all commands: the client, the output and the progress of a job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final, TypeVar

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spinneret_client.cli.output import Output, as_markup, visible
from spinneret_client.client import Spinneret
from spinneret_client.errors import ConfigurationError
from spinneret_client.events import FINAL
from spinneret_client.generated.models import EventView

T = TypeVar("T")
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]
LINE_SECONDS: Final = 10.0
"""Seconds between two lines of progress if no bar is drawn."""


class Tools:
    """The client and the output of one run of the command."""

    def __init__(self, output: Output, url: str | None = None, profile: str | None = None) -> None:
        self.output = output
        self.url = url
        self.profile = profile
        self.following: tuple[str, str] | None = None
        """Group of commands and id of the work that continues after an interruption."""
        self._client: Spinneret | None = None

    @property
    def client(self) -> Spinneret:
        """The client, created at first use. Raises ConfigurationError."""
        if self._client is None:
            self._client = Spinneret(self.url, profile=self.profile)
        return self._client

    def follow(self, job_id: str, events: Iterator[EventView], get: Callable[[str], Any]) -> Any:
        """Show a job's progress until it has ended, and return the job."""
        with self.watching(job_id) as show:
            for event in events:
                self.output.event(event)
                show(event.progress, event.message)
            while (job := get(job_id)).status not in FINAL:
                # The events ended with an earlier run, and a retry began another one.
                time.sleep(1.0)
            return job

    @contextmanager
    def watching(
        self, title: str, group: str | None = "jobs"
    ) -> Iterator[Callable[[float, str], None]]:
        """Yield a function that shows percent and message, as a bar or as lines.

        `group` is the group whose command `watch` accepts `title` as an id; None without such a
        group.
        """
        self.following = None if group is None else (group, title)
        if self.output.live:
            with Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=None),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                console=self.output.notes,
                transient=True,
            ) as progress:
                task = progress.add_task(title, total=100)
                yield lambda percent, text: progress.update(
                    task, completed=percent, description=visible(text)
                )
        else:
            yield self._lines(title)
        self.following = None

    def _lines(self, title: str) -> Callable[[float, str], None]:
        last = -LINE_SECONDS

        def show(percent: float, text: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LINE_SECONDS:
                last = now
                self.output.note(f"{title} {percent:.0f}% {text}")

        return show

    def listing(
        self, found: Iterable[T], columns: Sequence[str], row: Callable[[T], Sequence[object]]
    ) -> None:
        """Print items as a result; text output is a table with the cells that `row` returns."""
        items = list(found)
        self.output.result(items, lambda: self.output.table(columns, map(row, items)))

    def remove(
        self,
        question: str,
        delete: Callable[[str], None],
        item_id: str,
        *,
        yes: bool,
        done: str = "removed",
    ) -> None:
        """Delete an item, if the user agrees."""
        self.confirm(question, yes=yes)
        delete(item_id)
        self.output.result(
            {"id": item_id, "status": done}, lambda: self.output.note(f"{done} {item_id}")
        )

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask the user, and return if the user agrees, else exit with 1.

        Raises ConfigurationError without a terminal and without `--yes`.
        """
        if yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise ConfigurationError(f"{question} Pass --yes, since there is no terminal to ask at")
        if not typer.confirm(question, err=True):
            raise typer.Exit(1)


def tools_of(context: typer.Context) -> Tools:
    """Return the tools that the commands share."""
    found = context.find_object(Tools)
    assert found is not None
    return found


def marked(text: str, ranges: list[tuple[int, int]], most: int = 220) -> str:
    """Return the text around the first match with the matches in bold, as markup."""
    start = text.rfind(" ", 0, max(0, ranges[0][0] - 60)) + 1 if ranges else 0
    parts, at = [], start
    for begin, end in ranges:
        if begin >= at and end <= start + most:
            parts += [as_markup(text[at:begin]), f"[bold yellow]{as_markup(text[begin:end])}[/]"]
            at = end
    parts.append(as_markup(text[at : start + most]))
    return ("… " if start else "") + " ".join("".join(parts).split())
