"""Tenants and the credentials that name them."""
