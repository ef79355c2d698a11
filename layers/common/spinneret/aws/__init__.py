"""Code that AWS adapters share: bounded clients, error translation, expressions, sealing."""
