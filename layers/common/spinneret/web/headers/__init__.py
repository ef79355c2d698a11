"""Request headers that tenants choose: their rules, and their encryption."""
