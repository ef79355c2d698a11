"""Discovery: which pages a site has, from its sitemaps and from Common Crawl's index."""
