"""What is known of one page and of its site, extracted once and kept as JSON."""
