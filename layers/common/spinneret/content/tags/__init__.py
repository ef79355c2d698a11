"""Tags: words that a tenant marks its documents with."""
