"""Side effects outside of our store: at most one per key."""
