"""Checks: requests one site, with retries, and evaluates the response."""
