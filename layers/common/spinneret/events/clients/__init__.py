"""Clients of the WebSocket API, as a sink of domain events."""
