"""Tenants and the credentials that identify them."""
