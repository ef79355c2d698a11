"""Convert integer minor units to the decimals that marketplaces use."""

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

# ISO 4217: digits of the minor unit, for the currencies that the marketplaces trade in.
CURRENCIES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "AUD": 2,
        "CAD": 2,
        "CHF": 2,
        "CZK": 2,
        "DKK": 2,
        "EUR": 2,
        "GBP": 2,
        "HKD": 2,
        "HUF": 2,
        "JPY": 0,
        "NOK": 2,
        "NZD": 2,
        "PLN": 2,
        "SEK": 2,
        "SGD": 2,
        "TND": 3,
        "USD": 2,
    }
)


def decimal_text(minor: int, currency: str) -> str:
    """Return minor units as a decimal: 1999 EUR → `19.99`, 1999 JPY → `1999`. Exact, without
    floats."""
    digits = CURRENCIES[currency]
    return str(Decimal(minor).scaleb(-digits).quantize(Decimal(1).scaleb(-digits)))
