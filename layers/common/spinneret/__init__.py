"""Spinneret: crawl and search the web on serverless primitives."""
