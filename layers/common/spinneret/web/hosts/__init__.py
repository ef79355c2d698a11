"""Host settings: a tenant slows down its own requests to a host, or blocks it."""
