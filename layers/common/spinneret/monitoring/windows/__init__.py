"""Maintenance windows: times at which a target may fail without counting as down."""
