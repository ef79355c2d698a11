"""Hints for names that a request gets wrong."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

_COMPARED_CHARS: Final = 200  # a client may send a name of any length


def nearest(name: str, known: Sequence[str], listed: Sequence[str] | None = None) -> str | None:
    """Return a hint at the known name that is most similar to `name`.

    Without a similar one, the hint lists `listed`, by default all known names; None without any.
    """
    near = get_close_matches(name[:_COMPARED_CHARS].lower(), known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    shown = known if listed is None else listed
    return f"known are {', '.join(f'`{each}`' for each in shown)}" if shown else None
