"""People of a tenant: their roles and passwords."""
