"""All parts, in the order in which they are shown."""

from collections.abc import Sequence

from stack.errors import UsageError
from stack.parts.embedder import embedder
from stack.parts.localstack import localstack
from stack.parts.opensearch import opensearch
from stack.parts.part import Part
from stack.parts.website import website
from stack.parts.websocket import websocket
from stack.workspace import Workspace


def all_parts(workspace: Workspace) -> tuple[Part, ...]:
    parts = (opensearch, localstack, embedder, websocket, website)
    return tuple(part(workspace) for part in parts)


def select(workspace: Workspace, names: Sequence[str]) -> tuple[Part, ...]:
    """Return the named parts, or all if no name is given."""
    parts = all_parts(workspace)
    known = [part.name for part in parts]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no part {name!r}; the parts are {', '.join(known)}")
    return tuple(part for part in parts if not names or part.name in names)
