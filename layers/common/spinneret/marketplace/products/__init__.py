"""Products: what a seller sells."""
