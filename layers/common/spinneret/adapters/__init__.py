"""What several adapters share: AWS clients, error translation, item and key building."""
