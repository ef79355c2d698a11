"""Orders: what was sold where, and what that leaves for the other marketplaces."""
