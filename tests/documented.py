"""Run the commands of a page of documentation, and compare their outputs by shape.

A fenced block contains commands that begin with `$ `; a command continues on the next line if a
shell would wait for it. The text between a command and the next one is its expected output: JSON in
which `…` matches anything, or lines of text.

An id in an expected output represents the real one in all later commands of the page.
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

COMMAND_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 100.0
"""Seconds for which a command that only reads is repeated until its output matches.

For example, a job may not have ended yet.
"""
_POLL_SECONDS: Final = 0.5
_BLOCK: Final = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_ID: Final = re.compile(r"([a-z]+_(?:\d{8}T\d{6}_)?)[0-9a-f]{32}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|…')
_ANY: Final = "…"
_MEASURED: Final = ("_ms", "late", "expires_in")
"""Last parts of names whose whole numbers differ between runs; all fractions may differ."""


@dataclass(frozen=True)
class Command:
    """A command of a page and its expected output, which is empty if the page shows none."""

    text: str
    answer: str

    @property
    def only_reads(self) -> bool:
        """Return whether the command only reads, so that it may be repeated."""
        words = self.text.split()
        return words[0] in {"curl", "tail"} and not {"-d", "-X", "-F", "-T"} & set(words)


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a page in order."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            ends = range(1, len(lines) + 1)
            taken = next((end for end in ends if _is_whole("\n".join(lines[:end]))), None)
            assert taken, f"the command never ends: {part}"
            yield Command("\n".join(lines[:taken]), "\n".join(lines[taken:]).strip())


def _is_whole(text: str) -> bool:
    """Return whether the command is complete: after an open quote or a pipe a shell would wait."""
    if text.endswith("\\"):
        return False
    read = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    # bash only warns about an open here-document.
    return read.returncode == 0 and not read.stderr


def section(text: str, heading: str) -> str:
    """Return the part of a page below a heading, up to the next heading of its level or above."""
    level, _, _ = heading.partition(" ")
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, f"the page has no heading {heading!r}"
    return re.split(rf"^#{{2,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


@dataclass
class Page:
    """Runs a page's commands in order in one folder.

    `given` are environment variables; the page's own `export` of one of them is skipped. `replaced`
    maps texts of the page, such as ports, to their values in this run.
    """

    folder: Path
    given: Mapping[str, str]
    replaced: Mapping[str, str]
    ids: dict[str, str] = field(default_factory=dict)
    """Id of the page → id of this run."""
    groups: list[int] = field(default_factory=list)

    def close(self) -> None:
        """End all processes that the commands started."""
        for group in self.groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def run(self, text: str) -> int:
        """Run all commands; return their number. Raises AssertionError at the first difference."""
        count = 0
        for command in commands(text):
            if command.text.startswith("make ") or self._is_given(command.text):
                continue
            self._try(command)
            count += 1
        return count

    def _is_given(self, text: str) -> bool:
        return any(text.startswith(f"export {name}=") for name in self.given)

    def _try(self, command: Command) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            output = self._output(command.text)
            expected = self._here(command.answer)
            difference, ids = compare(expected, output)
            if not difference:
                self.ids |= {self._there(name): real for name, real in ids.items()}
                return
            if not command.only_reads or time.monotonic() > deadline:
                raise AssertionError(f"{command.text}\n{difference}\n{output}")
            time.sleep(_POLL_SECONDS)

    def _output(self, text: str) -> str:
        """Run one command in a shell with the page's variables, and return its output."""
        script = (
            f"[ -e variables ] && . ./variables 2>/dev/null\n{self._here(text)}\n"
            "code=$?; declare -p > variables; exit $code"
        )
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=self.folder,
            env=dict(self.given),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.groups.append(process.pid)
        output, _ = process.communicate(timeout=COMMAND_SECONDS)
        assert process.returncode == 0, f"{text}\n{output}"
        return output.strip()

    def _here(self, text: str) -> str:
        for name, real in {**self.replaced, **self.ids}.items():
            text = text.replace(name, real)
        return text

    def _there(self, text: str) -> str:
        for name, real in self.replaced.items():
            text = text.replace(real, name)
        return text


def compare(expected: str, output: str) -> tuple[str, dict[str, str]]:
    """Return the first difference, "" if there is none, and shown ids → ids of the output."""
    ids: dict[str, str] = {}
    if not expected:
        return "", ids
    if expected[0] not in "{[":
        pattern = _glob(expected)
        return ("" if re.fullmatch(pattern, output, re.DOTALL) else f"expected: {expected}"), ids
    try:
        found = json.loads(output)
    except ValueError:
        return f"expected JSON: {expected}", ids
    return _differs(json.loads(_with_wildcards(expected)), found, "", ids), ids


def _with_wildcards(text: str) -> str:
    """Turn each `…` outside a string into JSON: a member, or a value, named `…`."""

    def turned(match: re.Match[str]) -> str:
        if match.group() != _ANY:
            return match.group()
        before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
        is_member = after.startswith("}") and not before.endswith(":")
        return f'"{_ANY}": 0' if is_member else f'"{_ANY}"'

    return _TOKEN.sub(turned, text.replace("\n", " "))


def _differs(expected: Any, found: Any, place: str, ids: dict[str, str]) -> str:
    """Return where and how two values differ; "" if they don't."""
    is_single = not isinstance(expected, dict | list)
    if expected == _ANY or (is_single and _is_alike(expected, found, place, ids)):
        return ""
    if isinstance(expected, dict) and isinstance(found, dict):
        shown = {name: value for name, value in expected.items() if name != _ANY}
        rest = sorted(set(found) - set(shown))
        if rest and _ANY not in expected:
            return f"{place}: there are also {rest}"
        missing = sorted(set(shown) - set(found))
        pairs = [(f"{place}.{name}", shown[name], found.get(name)) for name in shown]
        return f"{place}: {missing} is missing" if missing else _first(pairs, ids)
    if isinstance(expected, list) and isinstance(found, list):
        values = [each for each in expected if each != _ANY]
        if len(found) < len(values) or (len(found) > len(values) and values == expected):
            return f"{place}: found {len(found)} values"
        pairs = [
            (f"{place}[{at}]", *both) for at, both in enumerate(zip(values, found, strict=False))
        ]
        return _first(pairs, ids)
    return f"{place}: expected {json.dumps(expected)}, found {json.dumps(found)}"


def _first(pairs: Iterable[tuple[str, Any, Any]], ids: dict[str, str]) -> str:
    """Return the first difference between pairs of values; each pair has its place."""
    differences = (_differs(expected, found, place, ids) for place, expected, found in pairs)
    return next(filter(None, differences), "")


def _is_alike(expected: Any, found: Any, place: str, ids: dict[str, str]) -> bool:
    if isinstance(expected, str) and isinstance(found, str):
        if _TIME.fullmatch(expected):
            return bool(_TIME.fullmatch(found))
        shown, real = _ID.findall(expected), _ID.findall(found)
        kinds = [[re.sub(r"\d", "0", each) for each in side] for side in (shown, real)]
        if shown and kinds[0] == kinds[1] and _ID.sub("…", expected) == _ID.sub("…", found):
            pairs = zip(_ID.finditer(expected), _ID.finditer(found), strict=True)
            ids.update({one.group(): other.group() for one, other in pairs})
            return True
        return bool(re.fullmatch(_glob(expected), found, re.DOTALL))
    if isinstance(expected, float) or place.endswith(_MEASURED):
        return isinstance(found, int | float) and not isinstance(found, bool)
    return type(expected) is type(found) and bool(expected == found)


def _glob(text: str) -> str:
    """Return the pattern of a text in which `…` matches anything."""
    return ".*".join(map(re.escape, text.split(_ANY)))
