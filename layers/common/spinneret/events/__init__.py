"""Domain events and their subscribers: webhooks."""
