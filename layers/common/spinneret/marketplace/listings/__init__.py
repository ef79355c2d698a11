"""Listing records: each product's listing on each marketplace."""
