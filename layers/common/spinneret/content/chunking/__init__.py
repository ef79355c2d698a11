"""Splits Markdown into overlapping chunks of bounded size."""
