"""Politeness towards hosts: robots.txt, pace, circuit breaker and sessions."""
