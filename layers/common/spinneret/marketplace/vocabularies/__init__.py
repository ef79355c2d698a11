"""Vocabularies that products are described with."""
