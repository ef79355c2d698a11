"""Tenants: created, suspended, exported and deleted by the operator."""
