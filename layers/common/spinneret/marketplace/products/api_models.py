"""Requests and responses of products."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf
from spinneret.marketplace.preferences.api_models import ChoiceId, ChoiceName
from spinneret.marketplace.products import limits
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.marketplace.products.rules import NO_VARIATIONS

Title = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=limits.PRODUCT_TITLE_MAX_CHARS
    ),
]
Description = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.PRODUCT_DESCRIPTION_MAX_CHARS)
]
Price = Annotated[int, Field(ge=1, le=limits.PRODUCT_PRICE_MAX)]
ImageUrl = Annotated[
    str, StringConstraints(pattern=r"^https?://[^\s]+$", max_length=bounds.URL_MAX_CHARS)
]
Sku = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,50}$")]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Attributes = Annotated[dict[Word, Word], Field(max_length=limits.PRODUCT_ATTRIBUTES_MAX)]


def _refused(_: Any) -> None:
    raise ValueError(NO_VARIATIONS)


Variations = SkipJsonSchema[Annotated[None, BeforeValidator(_refused)]]
"""Field that is refused with its reason; the API document doesn't offer it."""


class OverrideModel(BaseModel):
    """Values that one marketplace shows; null keeps the product's own value."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: Title | None = None
    """Title at this marketplace; null for the product's."""
    description: Description | None = None
    """Description at this marketplace; null for the product's."""
    price: Price | None = None
    """Price at this marketplace in minor units, such as cents; null for the product's."""
    category_id: Word | None = None
    """Category id of the marketplace."""
    attributes: Attributes = {}
    """Attributes that replace or extend the product's."""
    choices: dict[ChoiceName, ChoiceId] = {}
    """Ids of the policies, location, profile or section of this product, by the name of the choice;
    the preferences give the others."""


class ProductRequest(BaseModel):
    """A new or changed product; a PUT replaces everything, except an omitted SKU."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: Title
    """Title, in the seller's language."""
    description: Description
    """Description, in the seller's language."""
    price: Price
    """Price in minor units: 1999 is 19.99 EUR, but 1999 JPY."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = "EUR"
    """Currency of the price (ISO 4217)."""
    quantity: Annotated[int, Field(ge=0, le=limits.PRODUCT_QUANTITY_MAX)] = 1
    """Number of pieces in stock."""
    images: Annotated[
        tuple[ImageUrl, ...], Field(max_length=limits.PRODUCT_IMAGES_MAX, strict=False)
    ] = ()
    """URLs of the images in their order."""
    attributes: Attributes = {}
    """`brand`, `color`, `condition`, `material`, `size` and `category` have values of their
    vocabularies; other attributes are free."""
    overrides: dict[str, OverrideModel] = {}
    """Values that differ on a marketplace, by its name."""
    sku: Sku | None = None
    """Identifier at all marketplaces, unique within the tenant; by default a new one."""
    variants: Variations = None
    variations: Variations = None

    def content(self) -> ProductContent:
        """Return the content to publish."""
        others = {"overrides", "sku", "variants", "variations"}
        return ProductContent(**self.model_dump(exclude=others))

    def by_marketplace(self) -> dict[str, ProductOverride]:
        """Return the overrides as domain objects, by marketplace."""
        return {name: ProductOverride(**each.model_dump()) for name, each in self.overrides.items()}


class ProductView(BaseModel):
    """A product."""

    product_id: str
    sku: str
    title: str
    """Title, in the seller's language."""
    description: str
    """Description, in the seller's language."""
    price: int
    """Price in minor units, such as cents."""
    currency: str
    """Currency of the price (ISO 4217)."""
    quantity: int
    """Number of pieces in stock."""
    images: list[str]
    """URLs of the images in their order."""
    attributes: dict[str, str]
    """Attributes by name, such as `brand`."""
    overrides: dict[str, OverrideModel]
    """Deviations by marketplace."""
    created_at: str
    updated_at: str


class ProductList(ListOf[ProductView]):
    """A page of products."""


def product_view(product: Product) -> ProductView:
    """Return the view of a product."""
    return ProductView(
        **vars(product.content),
        product_id=product.id,
        sku=product.sku,
        overrides={name: OverrideModel(**vars(each)) for name, each in product.overrides.items()},
        created_at=to_iso(product.created_at),
        updated_at=to_iso(product.updated_at),
    )
