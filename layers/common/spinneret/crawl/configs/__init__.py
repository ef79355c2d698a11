"""Crawl configs: how a tenant's pages are fetched, extracted and chunked."""
