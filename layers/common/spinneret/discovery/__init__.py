"""Discovery of a site's pages, from its sitemaps and from Common Crawl's index."""
