"""Reading lists page by page."""

from spinneret.kernel.paging import Page, items_of

PAGES = {
    None: Page(items=("a", "b"), after="b"),
    "b": Page[str](items=(), after="c"),
    "c": Page(items=("d",), after=None),
}


def test_all_pages_are_followed_also_an_empty_one() -> None:
    assert list(items_of(PAGES.__getitem__)) == ["a", "b", "d"]
    assert list(items_of(PAGES.__getitem__, "b")) == ["d"]


def test_a_page_is_read_when_its_first_item_is_needed() -> None:
    asked: list[str | None] = []

    def read(after: str | None) -> Page[str]:
        asked.append(after)
        return PAGES[after]

    items = items_of(read)
    assert (next(items), next(items), asked) == ("a", "b", [None])
