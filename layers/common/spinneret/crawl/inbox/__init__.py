"""Files of URLs that tenants upload to a bucket and that are then crawled (C-09)."""
