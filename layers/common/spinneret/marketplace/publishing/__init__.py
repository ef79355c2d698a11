"""Marketplace jobs: one action for one product on one marketplace."""
