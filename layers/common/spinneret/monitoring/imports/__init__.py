"""Imports: many targets at once, from a CSV file or from a sitemap, as one job."""
