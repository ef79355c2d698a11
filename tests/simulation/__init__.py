"""The job kernel under a seeded scheduler that interleaves, delays, crashes and loses answers."""
