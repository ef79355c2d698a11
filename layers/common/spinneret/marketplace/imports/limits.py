"""Bounds of imports, each with its source."""

from typing import Final

IMPORT_PAGE: Final = 25  # listings of a page, and of a transaction: below DynamoDB's 100 and 4 MB
