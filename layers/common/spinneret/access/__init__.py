"""Who may call, and how much: keys, tickets, rate limits, uploads."""
