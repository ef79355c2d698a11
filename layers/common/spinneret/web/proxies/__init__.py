"""Proxies: a tenant's servers, their rotation and their health."""
