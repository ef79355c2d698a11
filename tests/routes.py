"""The routes of all API functions in the folders of the functions."""

import importlib
from pathlib import Path
from typing import Final

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from spinneret.runtime.http.access import AccessTable, access_table

_FUNCTIONS: Final = Path(__file__).resolve().parents[1] / "functions"
AREAS: Final = tuple(sorted(path.parent.name for path in _FUNCTIONS.glob("*/api.py")))


def app_of(area: str) -> APIGatewayRestResolver:
    """Return the resolver of an area's API function."""
    app: APIGatewayRestResolver = importlib.import_module(f"{area}.api").app
    return app


TABLE: Final = AccessTable(row for area in AREAS for row in access_table(app_of(area)).rows)
ROUTES: Final = TABLE.rows
