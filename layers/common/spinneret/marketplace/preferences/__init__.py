"""Sellers' preferences for each marketplace."""
