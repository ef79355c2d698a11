"""Incidents: derive a target's status from a series of outcomes."""
