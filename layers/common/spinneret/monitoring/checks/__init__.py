"""Checks: one question to a site, with its tries, and what the answer means."""
