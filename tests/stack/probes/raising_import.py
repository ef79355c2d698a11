"""A module whose import raises."""

raise RuntimeError("not configured")
