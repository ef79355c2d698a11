"""Crawling a page: the reference slice (route, service, store, worker)."""
