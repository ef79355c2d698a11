"""Parents with children in the simulated world: drafts of clients, and the handler of a parent."""

from collections.abc import Sequence
from random import Random
from typing import Final

from spinneret.jobs.children import Children
from spinneret.jobs.models import Draft, Priority
from spinneret.jobs.worker import Context
from tests.simulation.policies import FAMILY, IMPATIENT, ONE_SERIES

CHILDREN_MAX: Final = 6


def parent_draft(rng: Random, pages: Sequence[str], *, planned: bool) -> Draft:
    """Return a parent with a few children; an unplanned one finds them itself, two in each write.

    An unplanned parent has a counter in each of limits.CHILD_SHARDS shards, a planned one has one
    counter.
    """
    made = [
        {
            "kind": rng.choice([ONE_SERIES, ONE_SERIES, "crawl", IMPATIENT]),
            "page": rng.choice(pages),
            "keyed": rng.random() < 0.3,
            "nature": rng.choice(["well", "well", "well", "broken", "poison"]),
        }
        for _ in range(rng.randint(0 if planned else 1, CHILDREN_MAX))
    ]
    return Draft(
        kind=FAMILY,
        payload={"planned": planned, "children": made},
        priority=rng.choice(list(Priority)),
        notify=("hook",),
        duplicate_key=None,
    )


def child_drafts(parent: Draft) -> list[Draft]:
    """Return the drafts of a parent's children; one with a key may duplicate another job."""
    return [
        Draft(
            kind=child["kind"],
            payload={"page": child["page"], "nature": child["nature"]},
            priority=parent.priority,
            duplicate_key=child["page"] if child["keyed"] else None,
        )
        for child in parent.payload["children"]
    ]


def lead(context: Context, children: Children) -> None:
    """Handle a parent. Never returns: raises AwaitChildren, or what a claim raises."""
    job = context.job
    if job.payload["planned"]:
        children.create_planned(context)
    else:
        parent = Draft(
            kind=job.kind, payload=job.payload, priority=job.priority, duplicate_key=None
        )
        drafts = child_drafts(parent)
        while (first := _cursor(context)) is not None:
            last = first + 2
            on = str(last) if last < len(drafts) else None
            children.create(context, drafts[first:last], on)
    children.await_all(context)


def _cursor(context: Context) -> int | None:
    family = context.job.family
    assert family is not None  # the job is a parent
    return None if family.cursor is None else int(family.cursor or 0)
