"""What answers say of how a page was read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from spinneret.content.extraction.models import Extraction, PageType


class ExtractionView(BaseModel):
    """How sure the main content is; null for text, XML and pages that were read as a whole."""

    engine: str
    """Whose choice is nearest to the content."""
    agreement: float
    """Of the engines that were asked, from 0 to 1; pages with a low one are worth a look."""
    page_type: PageType | None


def extraction_fields(extraction: Extraction | None) -> dict[str, Any] | None:
    """The view's fields, as JSON."""
    return None if extraction is None else asdict(extraction)
