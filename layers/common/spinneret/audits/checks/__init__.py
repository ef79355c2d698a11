"""The catalogue of checks: small pure functions over a page, a page in its site, or the site."""
