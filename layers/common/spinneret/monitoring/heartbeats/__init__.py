"""Calls of heartbeats: each is a check that its target is up, and moves the time it is due."""
