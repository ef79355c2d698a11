"""Targets: the URLs that a tenant has watched, and how each of them is."""
