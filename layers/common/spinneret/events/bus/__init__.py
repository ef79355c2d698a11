"""EventBridge bus that publishes domain events to other systems."""
