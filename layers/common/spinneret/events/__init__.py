"""What happened, for whoever wants to know: webhooks."""
