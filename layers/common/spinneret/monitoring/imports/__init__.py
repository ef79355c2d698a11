"""Imports: create many targets in one job, from a CSV file or a sitemap."""
