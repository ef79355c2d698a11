"""Vinted, by way of a plug-in in the seller's browser."""
