"""Fetching from the open web: reachable addresses, canonical URLs, bounded bodies."""
