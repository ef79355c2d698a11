"""Values of media: the terms of a job, as its payload stores them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from spinneret.media.kinds import PDF, SCREENSHOT
from spinneret.web.browser.models import (
    ImageFormat,
    Margins,
    Paper,
    Pdf,
    Screenshot,
    Scripts,
    Viewport,
)

_WINDOW: Final = Viewport()
MEDIA_TYPES: Final = {
    "application/pdf": ".pdf",
    "application/json": ".json",
    **{f"image/{each}": f".{each}" for each in ImageFormat},
}
"""Media type of an object → suffix of its key."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Page of a job, the moment at which it is ready, and the task there."""

    url: str
    wait_for: str | None
    wait_seconds: float
    viewport: Viewport = _WINDOW
    task: Screenshot | Pdf | None = None
    """None for scripts."""
    scripts_id: str | None = None
    """Id of the stored scripts, which would be too large for a job; None for other tasks."""

    def payload(self) -> dict[str, Any]:
        """Return the terms as a job's payload."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_terms(kind: str, payload: Mapping[str, Any]) -> Terms:
    """Return the terms of a job of the kind."""
    task = payload.get("task")
    return Terms(
        url=payload["url"],
        wait_for=payload.get("wait_for"),
        wait_seconds=payload["wait_seconds"],
        viewport=Viewport(**payload["viewport"]),
        task=None if task is None else _read_task(kind, task),
        scripts_id=payload.get("scripts_id"),
    )


def _read_task(kind: str, task: Mapping[str, Any]) -> Screenshot | Pdf | None:
    if kind == SCREENSHOT:
        return Screenshot(**{**task, "format": ImageFormat(task["format"])})
    if kind == PDF:
        return Pdf(**{**task, "paper": Paper(task["paper"]), "margins": Margins(**task["margins"])})
    return None


def media_type_of(task: Screenshot | Pdf | Scripts) -> str:
    """Return the media type of a task's object."""
    match task:
        case Screenshot():
            return f"image/{task.format}"
        case Pdf():
            return "application/pdf"
        case Scripts():
            return "application/json"
