"""Hybrid search: embedding, the chunk index and rank fusion."""
