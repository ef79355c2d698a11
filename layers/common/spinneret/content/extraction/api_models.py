"""Response fields about the extraction of a page."""

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from spinneret.content.extraction.models import Extraction, PageType


class ExtractionView(BaseModel):
    """Confidence in the main content; null for text, XML and pages that were read completely."""

    engine: str
    """Engine whose own choice is closest to the main content."""
    agreement: float
    """Agreement of the engines that ran, from 0 to 1; pages with low agreement deserve a check."""
    page_type: PageType | None
    """Type of the page, as the extraction sees it; null if it doesn't judge."""


def extraction_fields(extraction: Extraction | None) -> dict[str, Any] | None:
    """Return the view's fields as JSON."""
    return None if extraction is None else asdict(extraction)
