"""Webhooks: endpoints, signed deliveries, and the reaction to an endpoint's answer."""
