"""The documentation that derives from the code is up to date."""

import re
import runpy
from pathlib import Path

import pytest

from spinneret.outbox.types import all_event_types
from tests.architecture.conftest import ROOT


def test_the_state_machine_is_documented_as_it_is() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    text = (ROOT / "docs" / "job-kernel.md").read_text()
    assert render["rendered"](text) == text, "run python docs/render.py"


# covers T-03
def test_the_access_of_every_route_is_documented_as_it_is() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    assert render["access"]() == render["ACCESS"].read_text(), "run python docs/render.py"


def test_every_setting_is_documented_as_the_template_declares_it() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    text = render["CONFIGURATION"].read_text()
    assert render["configuration"](text) == text, "run python docs/render.py"


def test_the_cost_of_a_stage_follows_from_its_templates_and_counted_calls() -> None:
    cost = runpy.run_path(str(ROOT / "benchmarks" / "cost.py"))
    text = cost["DOCUMENT"].read_text()
    assert cost["document"](text) == text, "run python benchmarks/cost.py --write"


def test_every_row_of_the_failure_matrix_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "proofs.md").read_text()
    matrix = text.partition("<!-- matrix -->")[2].partition("<!-- end matrix -->")[0]
    rows = re.findall(r"^\| F(\d+) .*\| `(.+)::(\w+)` \|$", matrix, re.MULTILINE)
    assert len(rows) >= 23
    for number, file, name in rows:
        assert f"def {name}(" in (ROOT / file).read_text(), f"F{number}: {file}::{name}"


def test_the_index_of_decisions_has_every_title_in_its_area() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text()
    index, *areas = re.split(r"^## ", text.partition("## Index\n")[2], flags=re.MULTILINE)
    lists = re.split(r"^- \*\*\[", index, flags=re.MULTILINE)[1:]
    indexed, titled = {}, {}
    for each in lists:
        area, _, titles = re.sub(r"\s+", " ", each).strip().partition("]")
        listed = re.sub(r"^\S* reversible: | \*One-way:\*|\.$", "", titles)
        indexed[area] = sorted(re.split(r"[;.] ", listed))
    for each in areas:
        titled[each.partition("\n")[0]] = sorted(re.findall(r"^### (.+)$", each, re.MULTILINE))
    assert indexed == titled


PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("clients/*/*.md")],
    key=lambda page: page.relative_to(ROOT),
)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for path, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
        target = (page.parent / path) if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_make_has_every_target_that_a_page_names() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        text = page.read_text()
        named = re.findall(r"^(?:[A-Z]\w*=\S* )?make (?:-s )?([a-z-]+)", text, re.MULTILINE)
        assert set(named) <= targets, (page.name, set(named) - targets)


def test_the_readme_names_every_page() -> None:
    text = (ROOT / "README.md").read_text()
    missing = [page for page in PAGES if f"]({page.relative_to(ROOT).as_posix()}" not in text]
    assert [page.name for page in missing] == ["README.md"]


def test_pages_name_events_as_the_code_declares_them() -> None:
    events = all_event_types()
    subjects = {name.partition(".")[0] for name in events}
    for page in PAGES:
        # Names in the catalogue of checks have the same form.
        text = re.sub(r"<!-- catalogue -->.*<!-- end", "", page.read_text(), flags=re.DOTALL)
        named = re.findall(r"`((\w+)\.[a-z_]+)`", text)
        assert {name for name, subject in named if subject in subjects} <= events.keys(), page.name
