"""Types of domain events.

A domain declares its types in a module of its own, `event_types.py`, as a mapping `EVENT_TYPES`
from name to description; `all_event_types` finds them by that name.
"""

from collections.abc import Mapping
from functools import cache

from spinneret.kernel.declarations import declared

EventTypes = Mapping[str, str]


@cache
def all_event_types() -> EventTypes:
    """Return the event types of all domains; raise ValueError if two domains declare a name."""
    found: dict[str, str] = {}
    for types in declared("event_types.py", "EVENT_TYPES"):
        for name, description in types.items():
            if name in found:
                raise ValueError(f"two domains declare {name}")
            found[name] = description
    return dict(sorted(found.items()))
