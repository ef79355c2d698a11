"""Crawl configs: how a tenant's pages are fetched, read and cut."""
