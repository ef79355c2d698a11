"""Whether the stage has a browser; also for functions that don't package it."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.kernel.settings import text

BROWSER_FOLDER: Final = text("BROWSER_FOLDER")
"""Folder of the packed or unpacked browser in its functions, or NONE."""
NONE: Final = "none"
"""Value for a stage without a browser."""


def has_browser(stage: Stage) -> bool:
    """Return whether the stage has a browser."""
    return stage[BROWSER_FOLDER] != NONE
