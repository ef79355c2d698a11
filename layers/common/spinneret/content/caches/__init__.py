"""Caches: answers and vectors that may be forgotten, by tenant."""
