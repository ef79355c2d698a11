"""Attribute values that all tenants share: value → label.

Conditions, colours and categories are closed: a product has one of them or none. Brands, materials
and sizes are suggestions. The folder of each marketplace has its own names for them.
"""

from collections.abc import Mapping
from typing import Final


def _plain(words: str) -> Mapping[str, str]:
    """Return labels by values that are derived from them."""
    labels = [each.strip() for each in words.split(",")]
    return {label.lower().replace(" ", "_").replace("&", "and"): label for label in labels}


BRANDS: Final = _plain(
    "Adidas, Apple, Armani, Asics, Barbour, Birkenstock, Bosch, Burberry, Calvin Klein, Canon,"
    " Carhartt, Converse, Dior, Dr. Martens, Fjallraven, Gucci, H&M, Hugo Boss, Ikea, Lacoste,"
    " Lego, Levi's, Mango, Michael Kors, New Balance, Nike, Nintendo, Patagonia, Philips, Prada,"
    " Puma, Ralph Lauren, Reebok, Samsung, Sony, The North Face, Timberland, Tommy Hilfiger, Vans,"
    " Zara, Unbranded"
)
COLORS: Final = _plain(
    "Beige, Black, Blue, Brown, Burgundy, Cream, Gold, Green, Grey, Khaki, Light blue, Multicolour,"
    " Navy, Orange, Pink, Purple, Red, Silver, Turquoise, White, Yellow"
)
CONDITIONS: Final[Mapping[str, str]] = {
    "new_with_tags": "New with tags",
    "new_without_tags": "New without tags",
    "very_good": "Very good",
    "good": "Good",
    "satisfactory": "Satisfactory",
    "for_parts": "For parts or not working",
}
MATERIALS: Final = _plain(
    "Acrylic, Alpaca, Cashmere, Ceramic, Copper, Cotton, Denim, Elastane, Faux fur, Faux leather,"
    " Glass, Gold, Leather, Linen, Merino, Mohair, Nylon, Paper, Plastic, Polyester, Rubber, Silk,"
    " Silver, Steel, Suede, Velvet, Viscose, Wood, Wool"
)
SIZES: Final = _plain(
    "XXS, XS, S, M, L, XL, XXL, XXXL, One size, 34, 36, 38, 40, 42, 44, 46, 48, EU 35, EU 36,"
    " EU 37, EU 38, EU 39, EU 40, EU 41, EU 42, EU 43, EU 44, EU 45, EU 46"
)
CATEGORIES: Final = _plain(
    "Accessories, Art, Bags, Books, Cameras, Ceramics, Coats, Collectibles, Computers, Dresses,"
    " Furniture, Games, Home decor, Jewellery, Kitchen, Knitwear, Lighting, Music, Phones, Prints,"
    " Shirts, Shoes, Skirts, Sport, Toys, Trousers, Watches"
)

VOCABULARIES: Final[Mapping[str, Mapping[str, str]]] = {
    "brands": BRANDS,
    "categories": CATEGORIES,
    "colors": COLORS,
    "conditions": CONDITIONS,
    "materials": MATERIALS,
    "sizes": SIZES,
}

CLOSED: Final = {"condition": "conditions", "color": "colors", "category": "categories"}
"""Attributes that accept only values of a vocabulary; brands and sizes are suggestions."""


def value_of(vocabulary: str, label: str) -> str | None:
    """Return the value of a label; a label that isn't known is a value of its own, except in a
    closed vocabulary."""
    values = {each.casefold(): value for value, each in VOCABULARIES[vocabulary].items()}
    unknown = None if vocabulary in CLOSED.values() else label
    return values.get(label.casefold(), unknown)
