"""Admission of requests: keys, tickets, rate limits, uploads."""
