"""Targets: the URLs that a tenant monitors, and their states."""
