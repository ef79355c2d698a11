"""Products of sellers."""
