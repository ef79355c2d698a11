"""Calls of marketplaces' APIs."""
