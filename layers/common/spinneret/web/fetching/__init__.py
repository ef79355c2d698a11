"""Fetching from the open web: which addresses may be reached, canonical URLs, bounded bodies."""
