"""Code that all domains share: errors, bounds, settings, time, ids, canonical JSON."""
