"""Facts of pages and their site, extracted once and stored as JSON."""
