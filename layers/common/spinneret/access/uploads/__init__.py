"""Request bodies that are too large to be sent with their request (T-06)."""
