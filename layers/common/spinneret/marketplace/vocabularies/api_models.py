"""Responses about vocabularies."""

from pydantic import BaseModel

from spinneret.kernel.errors import NotFound
from spinneret.marketplace.vocabularies.models import VOCABULARIES


class TermView(BaseModel):
    """One term: the stored value and its label."""

    value: str
    """Value to submit."""
    label: str
    """Name for people."""


class VocabularyView(BaseModel):
    """All terms of a vocabulary."""

    vocabulary: str
    """Name of the vocabulary."""
    items: list[TermView]
    """Terms in their order."""


def vocabulary_view(name: str) -> VocabularyView:
    """Return the view of a vocabulary. Raises NotFound."""
    words = VOCABULARIES.get(name)
    if words is None:
        raise NotFound(f"no such vocabulary: one of {', '.join(VOCABULARIES)}")
    items = [TermView(value=value, label=label) for value, label in words.items()]
    return VocabularyView(vocabulary=name, items=items)
