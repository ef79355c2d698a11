"""Imports of a seller's existing listings."""
