"""A search visits each ancestor of thousands of elements only once."""

from lxml import etree, html

from spinneret.content.extraction.ancestry import is_inside, nearest


def elements_of(markup: str, *tags: str) -> list[etree._Element]:
    """Return the page's elements with these tags, in document order."""
    return list(html.fromstring(markup).iter(*tags))


def test_the_nearest_ancestor_is_found_in_nested_tables() -> None:
    markup = "<table><tr><td><table><tr><td><b>a</b></td></tr></table><b>b</b>"
    outer, inner, *bold = elements_of(markup, "table", "b")
    known: dict[etree._Element, etree._Element | None] = {}
    found = [nearest(element, "table", known) for element in (*bold, inner, outer)]
    assert found == [inner, outer, outer, None]


def test_a_second_search_visits_no_element_again() -> None:
    first, second = elements_of("<div>" * 20 + "<b>a</b><b>b</b>", "b")
    above = list(first.iterancestors())
    nearest_known: dict[etree._Element, etree._Element | None] = {}
    assert nearest(first, "table", nearest_known) is None
    assert set(nearest_known) == set(above)
    nearest_known[above[0]] = second  # as if an earlier search had found it
    assert nearest(second, "table", nearest_known) is second

    visited: list[etree._Element] = []

    def matches(element: etree._Element) -> bool:
        visited.append(element)
        return False

    inside: dict[etree._Element, bool] = {}
    assert not any(is_inside(element, matches, inside) for element in (first, second))
    assert visited == [first, *above, second]
