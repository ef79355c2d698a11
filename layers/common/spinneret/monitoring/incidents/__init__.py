"""Incidents: what an outcome means after those before it."""
