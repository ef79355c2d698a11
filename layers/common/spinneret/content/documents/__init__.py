"""Documents: page data, versions and chunks."""
