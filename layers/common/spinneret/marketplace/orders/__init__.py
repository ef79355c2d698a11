"""Orders: sales on each marketplace, and the remaining stock for the others."""
