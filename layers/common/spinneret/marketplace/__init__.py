"""Products on marketplaces: published, kept up to date and ended, never doubled.

`products` and `vocabularies` are what a seller has; `listings` is what stands where; `tasks` and
`publishing` carry an action out step by step; `calls` is the one way to a marketplace's API and
`connections` the leave to use it. Each marketplace is a folder (`ebay`, `etsy`, `vinted`) and a row
of `registry`.
"""
