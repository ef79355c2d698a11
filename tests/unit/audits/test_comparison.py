"""Two runs beside each other."""

from __future__ import annotations

from spinneret.audits.comparison import compare


def test_issues_are_new_fixed_still_there_or_not_seen() -> None:
    found = compare(
        [("a", "/1"), ("b", "/1"), ("a", "/gone")],
        [("a", "/1"), ("c", "/2")],
        visited={"/1", "/2"},
        score_before=80.1,
        score_after=82.35,
        versions=("1", "1"),
    )
    assert found.new == (("c", "/2"),)
    assert found.fixed == (("b", "/1"),)
    assert found.still == (("a", "/1"),)
    assert found.not_seen == (("a", "/gone"),)
    assert (found.change, found.catalogue_changed) == (2.25, False)


def test_another_catalogue_is_told() -> None:
    found = compare([], [], visited=(), score_before=1, score_after=0, versions=("1", "2"))
    assert (found.change, found.catalogue_changed) == (-1, True)
