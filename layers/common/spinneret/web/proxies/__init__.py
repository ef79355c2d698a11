"""Proxies: by which way a tenant's requests reach a site."""
