"""Host settings: how a tenant slows its own requests to a host, or blocks it."""
