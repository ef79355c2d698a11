"""Responses about vocabularies."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.errors import NotFound
from spinneret.marketplace.vocabularies.models import VOCABULARIES


class TermView(BaseModel):
    """One term: the stored value and its label."""

    value: str
    label: str


class VocabularyView(BaseModel):
    """All terms of a vocabulary."""

    vocabulary: str
    items: list[TermView]


def vocabulary_view(name: str) -> VocabularyView:
    """Return the view of a vocabulary. Raises NotFound."""
    words = VOCABULARIES.get(name)
    if words is None:
        raise NotFound(f"no such vocabulary: one of {', '.join(VOCABULARIES)}")
    items = [TermView(value=value, label=label) for value, label in words.items()]
    return VocabularyView(vocabulary=name, items=items)
