"""Commands of README, tutorials and how-tos, run as written; `test_publishing.py` has the rest."""

import pytest

from tests.conftest import ROOT
from tests.documented import Page, section

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

README = ROOT / "README.md"
TUTORIALS = ROOT / "docs" / "tutorials"
HOW_TOS = ROOT / "docs" / "how-to"


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
def test_a_task_of_the_readme_answers_as_shown(page: Page, heading: str) -> None:
    assert page.run(section(README.read_text(), heading)) > 1


@pytest.mark.parametrize(
    "name", ["crawl-and-search", "watch-a-site", "audit-in-ci", "receive-webhooks"]
)
def test_a_tutorial_answers_as_shown(page: Page, name: str) -> None:
    assert page.run((TUTORIALS / f"{name}.md").read_text()) > 3


@pytest.mark.proof
@pytest.mark.parametrize("name", ["crawl", "search", "audits", "monitoring", "jobs-and-webhooks"])
def test_a_how_to_answers_as_shown(page: Page, name: str) -> None:
    assert page.run((HOW_TOS / f"{name}.md").read_text()) > 3
