"""Request bodies that are too large to send with their request (T-06)."""
