"""Webhooks: endpoints, signed deliveries and what an endpoint's answer leads to."""
