"""The runner of documentation pages: it finds and runs commands and compares their output."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.documented import Command, Page, commands, compare, section

JOB, OTHER = f"job_{'0' * 32}", f"job_{'a' * 32}"
PAGE = f"""# A page

## One

```
$ echo '{{"id": "{OTHER}",
    "n": 1}}'
{{"id": "{JOB}", …}}
$ X=7
$ echo {JOB} $X
```

```
make nothing of this
```

## Two

```
$ echo two
```
"""


def test_commands_continue_over_open_quotes_and_end_before_their_answers() -> None:
    first, second, third, last = commands(PAGE)
    assert first == Command(f"""echo '{{"id": "{OTHER}",\n    "n": 1}}'""", f'{{"id": "{JOB}", …}}')
    assert (second.text, third.text, last) == ("X=7", f"echo {JOB} $X", Command("echo two", ""))


def test_a_section_ends_before_the_next_heading_of_its_level() -> None:
    assert [each.text for each in commands(section(PAGE, "## Two"))] == ["echo two"]
    assert len(list(commands(section(PAGE, "## One")))) == 3
    assert section("# Page\n\n### A\nfirst\n## B\nlast\n", "### A") == "first\n"


def test_later_commands_get_the_ids_of_earlier_answers_and_keep_variables(tmp_path: Path) -> None:
    page = Page(tmp_path, {"PATH": "/usr/bin:/bin"}, {})
    assert page.run(section(PAGE, "## One") + f"```\n$ echo {JOB} $X\n{JOB} 7\n```\n") == 4
    assert page.ids == {JOB: OTHER}


def test_an_answer_that_differs_fails_with_its_command(tmp_path: Path) -> None:
    page = Page(tmp_path, {"PATH": "/usr/bin:/bin"}, {})
    with pytest.raises(AssertionError, match="echo two"):
        page.run("```\n$ echo two\nthree\n```\n")
    with pytest.raises(AssertionError, match="false"):
        page.run("```\n$ false\n```\n")


def test_what_a_command_leaves_running_ends_with_the_page(tmp_path: Path) -> None:
    page = Page(tmp_path, {"PATH": "/usr/bin:/bin"}, {})
    page.run("```\n$ sleep 60 > log 2>&1 &\n$ echo $!\n```\n")
    page.close()
    assert all(_is_gone(group) for group in page.groups)


def _is_gone(group: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):
            os.waitpid(-group, os.WNOHANG)  # it is our child if a browser test adopts orphans
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("expected", "output", "difference"),
    [
        ('{"a": 1, …}', '{"a": 1, "b": 2}', ""),
        ('{"a": 1}', '{"a": 1, "b": 2}', "also"),
        ('{"a": 1, "b": 2, …}', '{"a": 1}', "['b'] is missing"),
        ('{"a": …}', '{"a": [1, 2]}', ""),
        ('{"a": [1, …]}', '{"a": [1, 2]}', ""),
        ('{"a": [1]}', '{"a": [1, 2]}', "2 values"),
        ('{"a": [{"b": 1, …}, …]}', '{"a": [{"b": 2}]}', "expected 1, found 2"),
        ('{"a": 0.5}', '{"a": 0.7}', ""),
        ('{"a": 0.5}', '{"a": null}', "found null"),
        ('{"latency_ms": 5}', '{"latency_ms": 9}', ""),
        ('{"a": true}', '{"a": 1}', "found 1"),
        ('{"a": "one … three"}', '{"a": "one two three"}', ""),
        ('{"a": "one"}', '{"a": "two"}', "found"),
        (f'{{"a": "{JOB}"}}', f'{{"a": "{OTHER}"}}', ""),
        (f'{{"a": "{JOB}"}}', f'{{"a": "doc_{"a" * 32}"}}', "found"),
        ('{"a": "2026-11-23T09:10:20Z"}', '{"a": "2027-01-01T00:00:00.123Z"}', ""),
        ('{"a": "2026-11-23T09:10:20Z"}', '{"a": "soon"}', "found"),
        ('{"a": 1}', "no JSON", "expected JSON"),
        ("some … text", "some other text", ""),
        ("some text", "another text", "expected: some text"),
    ],
)
def test_answers_are_compared_by_shape(expected: str, output: str, difference: str) -> None:
    found, _ = compare(expected, output)
    assert (found == "") if not difference else (difference in found), found
