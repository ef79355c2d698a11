"""Sources: pages that are crawled again and again, by the clock or by hand."""
