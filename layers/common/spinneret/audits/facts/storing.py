"""Encoding of facts as compact JSON: default values are omitted, rows are arrays."""

from functools import cache

from pydantic import TypeAdapter

from spinneret.audits.facts.models import PageFacts
from spinneret.audits.facts.site import SiteFacts

VERSION = "1"
"""Version of the stored form; part of the storage key, so that no other version is read."""


def page_to_json(facts: PageFacts) -> bytes:
    """Encode facts as UTF-8 JSON; `page_from_json` returns an equal value."""
    return _pages().dump_json(facts, exclude_defaults=True)


def page_from_json(text: bytes | str) -> PageFacts:
    """Decode the output of `page_to_json`; raise pydantic.ValidationError for anything else."""
    return _pages().validate_json(text)


def site_to_json(facts: SiteFacts) -> bytes:
    """Encode site facts as JSON."""
    return _sites().dump_json(facts, exclude_defaults=True)


def site_from_json(text: bytes | str) -> SiteFacts:
    """Decode the output of `site_to_json`; raise pydantic.ValidationError for anything else."""
    return _sites().validate_json(text)


@cache
def _pages() -> TypeAdapter[PageFacts]:
    return TypeAdapter(PageFacts)


@cache
def _sites() -> TypeAdapter[SiteFacts]:
    return TypeAdapter(SiteFacts)
