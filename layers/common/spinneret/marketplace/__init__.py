"""Publish products on marketplaces, update them and end their listings, without duplicates.

`products` and `vocabularies` hold what a seller offers, `listings` what each marketplace shows.
`tasks` and `publishing` run an action step by step. `calls` is the client of the marketplaces'
APIs, and `connections` holds the authorizations for it. Each marketplace is a folder (`ebay`,
`etsy`, `vinted`) and a row of `registry`.
"""
