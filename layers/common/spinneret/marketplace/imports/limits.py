"""Bounds of imports, each with its source."""

from typing import Final

IMPORT_PAGE: Final = 25  # listings of one transaction, far below DynamoDB's 100 items and 4 MB
