"""The domains whose rows have names of their own."""
