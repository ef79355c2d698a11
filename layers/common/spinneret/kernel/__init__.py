"""What every domain shares: errors, bounds, settings, time, ids, canonical JSON."""
