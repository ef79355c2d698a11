"""Vinted, through a plug-in in the seller's browser."""
