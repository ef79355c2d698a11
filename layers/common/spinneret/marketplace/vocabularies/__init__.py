"""Vocabularies of product attributes."""
