"""What adapters share: clients with bounds, error translation, expressions, sealing."""
