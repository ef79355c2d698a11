"""Calls to the marketplaces' APIs."""
