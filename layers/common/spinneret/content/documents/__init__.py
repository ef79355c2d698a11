"""Documents: what is known of a page, its versions and their chunks."""
