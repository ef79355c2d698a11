"""Bounds of products, each with its source."""

from typing import Final

PRODUCT_TITLE_MAX_CHARS: Final = 255  # longer than any marketplace takes; each has its own bound
PRODUCT_DESCRIPTION_MAX_CHARS: Final = 20_000
PRODUCT_IMAGES_MAX: Final = 24  # the most that a marketplace shows (eBay)
PRODUCT_PRICE_MAX: Final = 100_000_000  # minor units: a million in most currencies
PRODUCT_QUANTITY_MAX: Final = 999  # Etsy: of all variations together
PRODUCT_ATTRIBUTES_MAX: Final = 50
