"""Access tokens and the keys that sign them."""
