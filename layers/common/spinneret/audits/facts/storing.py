"""Facts as JSON, compact: values that say nothing are left out, rows are arrays."""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter

from spinneret.audits.facts.models import PageFacts
from spinneret.audits.facts.site import SiteFacts

VERSION = "1"
"""Of the stored form; part of the key under which facts are kept, so that none is misread."""


def page_to_json(facts: PageFacts) -> bytes:
    """UTF-8; `page_from_json` answers an equal value."""
    return _pages().dump_json(facts, exclude_defaults=True)


def page_from_json(text: bytes | str) -> PageFacts:
    """Raises pydantic.ValidationError for anything that `page_to_json` didn't write."""
    return _pages().validate_json(text)


def site_to_json(facts: SiteFacts) -> bytes:
    """As `page_to_json`."""
    return _sites().dump_json(facts, exclude_defaults=True)


def site_from_json(text: bytes | str) -> SiteFacts:
    """As `page_from_json`."""
    return _sites().validate_json(text)


@cache
def _pages() -> TypeAdapter[PageFacts]:
    return TypeAdapter(PageFacts)


@cache
def _sites() -> TypeAdapter[SiteFacts]:
    return TypeAdapter(SiteFacts)
