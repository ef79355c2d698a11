"""Listing records: what stands on which marketplace."""
