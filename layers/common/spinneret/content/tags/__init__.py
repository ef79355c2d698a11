"""Document tags."""
