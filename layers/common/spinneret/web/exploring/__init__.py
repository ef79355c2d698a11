"""Discovery of pages: frontier, scope, traps, scoring, sitemaps, Common Crawl's index."""
