"""eBay: inventory item, offer, listing."""
