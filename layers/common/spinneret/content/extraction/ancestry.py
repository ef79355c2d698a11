"""Elements that are inside of others."""

from collections.abc import Callable

from lxml import etree


def nearest(
    element: etree._Element, tag: str, known: dict[etree._Element, etree._Element | None]
) -> etree._Element | None:
    """Return the nearest ancestor with that tag.

    `known` keeps the answers for one tag, so that many calls visit each element once.
    """
    way: list[etree._Element] = []
    at = element.getparent()
    while at is not None and at not in known and at.tag != tag:
        way.append(at)
        at = at.getparent()
    answer = known[at] if at is not None and at in known else at
    known.update(dict.fromkeys(way, answer))
    return answer


def is_inside(
    element: etree._Element,
    matches: Callable[[etree._Element], bool],
    known: dict[etree._Element, bool],
) -> bool:
    """Return whether the element or one of its ancestors matches.

    `known` keeps the answers, so that many calls visit each element once. Answers that are given
    in it end the search.
    """
    way: list[etree._Element] = []
    at: etree._Element | None = element
    while at is not None and at not in known:
        way.append(at)
        if matches(at):
            known[at] = True
            break
        at = at.getparent()
    answer = at is not None and known[at]
    known.update(dict.fromkeys(way, answer))
    return answer
