"""Per-tenant caches of search results and vectors."""
