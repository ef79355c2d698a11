"""A small static website, "Silk and Webs", for tests that crawl and search real HTML."""
