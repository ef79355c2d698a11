"""Commands of README, tutorials and how-tos, run as written; `test_publishing.py` has the rest."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from tests.conftest import ROOT
from tests.documented import Page, section
from tests.e2e.conftest import Deployed

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

README = ROOT / "README.md"
TUTORIALS = ROOT / "docs" / "tutorials"
HOW_TOS = ROOT / "docs" / "how-to"
Run = Callable[[str], int]
"""Function that runs the commands of a text and returns their number."""


@pytest.fixture
def run(page: Page, deployed: Deployed) -> Run:
    def run(text: str) -> int:
        with deployed.audited_host() if "audit" in text else nullcontext():
            return page.run(text)

    return run


@pytest.mark.parametrize(
    "heading",
    [
        "### From the command line",
        "### Crawl a page and search it",
        "### Crawl a site",
        "### Watch a link",
        "### Audit a site",
    ],
)
def test_a_task_of_the_readme_answers_as_shown(run: Run, heading: str) -> None:
    assert run(section(README.read_text(), heading)) > 1


@pytest.mark.parametrize(
    "name", ["crawl-and-search", "watch-a-site", "audit-in-ci", "receive-webhooks"]
)
def test_a_tutorial_answers_as_shown(run: Run, name: str) -> None:
    assert run((TUTORIALS / f"{name}.md").read_text()) > 3


@pytest.mark.proof
@pytest.mark.parametrize("name", ["crawl", "search", "audits", "monitoring", "jobs-and-webhooks"])
def test_a_how_to_answers_as_shown(run: Run, name: str) -> None:
    assert run((HOW_TOS / f"{name}.md").read_text()) > 3
