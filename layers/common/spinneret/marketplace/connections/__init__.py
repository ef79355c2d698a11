"""Connections: a seller's leave for a marketplace."""
