"""Collections: documents that a tenant keeps together."""
