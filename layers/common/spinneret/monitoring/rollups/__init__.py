"""Figures of targets by hour and day: uptime and latency."""
