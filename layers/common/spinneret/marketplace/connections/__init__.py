"""Connections: sellers' OAuth authorizations for marketplaces."""
