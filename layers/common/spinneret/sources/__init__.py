"""Sources: pages that are crawled repeatedly, on a schedule or on request."""
