"""The domains whose rows have unique names."""
