"""Files of URLs that are put into a bucket and then crawled (C-09)."""
