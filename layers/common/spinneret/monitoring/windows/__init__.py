"""Maintenance windows: times at which a target may fail without being called down."""
