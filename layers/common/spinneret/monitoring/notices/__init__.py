"""Notices: incidents and maintenance that a tenant posts on its status pages, with updates."""
