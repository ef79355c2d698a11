"""The parts in docs/library.md work as the page shows, with the packages that it names."""

import json
import re
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions

import pytest

from tests.architecture.conftest import ROOT

# A part, the packages that the page names for it, its example and the output that the page shows.
_PART = re.compile(
    r"^\*\*(.+?)\*\*.*?^Needs (.+?)\.\n+```python\n(.+?)```\n+Prints:\n+```text\n(.+?)```",
    re.MULTILINE | re.DOTALL,
)
PAGE = (ROOT / "docs" / "library.md").read_text()
PARTS = {
    name: (re.findall("`(.+?)`", needs), code, output)
    for name, needs, code, output in _PART.findall(PAGE)
}

# Refuses imports from installed packages that aren't allowed; prints all imported packages at exit.
GUARD = """
import atexit, json, sys
class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused}:
            raise ModuleNotFoundError("the page doesn't name the package of " + name)
sys.meta_path.insert(0, Guard())
tops = lambda: sorted({{name.partition(".")[0] for name in sys.modules}})
atexit.register(lambda: print(json.dumps(tops()), file=sys.stderr))
"""


@pytest.mark.heavy
@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs_with_the_packages_that_the_page_names_for_it(part: str) -> None:
    named, code, output = PARTS[part]
    modules = packages_distributions()
    known = {_plain(each) for each in _with_dependencies(named)}
    refused = {top for top, owners in modules.items() if not known & {*map(_plain, owners)}}
    program = "\n".join([GUARD.format(refused=refused), code])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT / "layers" / "common")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output
    imported = set(json.loads(done.stderr.splitlines()[-1]))
    for name in named:
        own = {top for top, owners in modules.items() if _plain(name) in map(_plain, owners)}
        assert own & imported, f"{part} doesn't need {name}"


def test_every_example_of_the_page_is_run() -> None:
    assert len(PARTS) == 5
    assert PAGE.count("```python") == len(PARTS)


def _with_dependencies(names: list[str]) -> set[str]:
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            needs = [each for each in distribution(name).requires or [] if "extra ==" not in each]
            left += [_installed(each) for each in needs if _installed(each)]
    return found


def _installed(requirement: str) -> str:
    """Return the requirement's distribution, or "" if its marker excludes it."""
    name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]
    owners = {_plain(owner) for each in packages_distributions().values() for owner in each}
    return name if _plain(name) in owners else ""


def _plain(name: str) -> str:
    """Return a name, normalized by the packaging specification."""
    return re.sub(r"[-_.]+", "-", name).lower()
