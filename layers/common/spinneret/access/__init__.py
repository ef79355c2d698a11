"""Who may ask, and how much: keys, tickets, rate limits, uploads."""
