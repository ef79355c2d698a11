"""Etsy: draft, images, inventory, listing."""
