"""Domain settings: what a tenant asks of its own requests to a site, or that there be none."""
