"""Side effects outside our store: at most one per key."""
