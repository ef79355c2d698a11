"""Routes in the code and in the access table are the same."""

from __future__ import annotations

import importlib

import pytest

from spinneret.runtime.http.access import ROUTES, find

AREAS = ("core", "crawl", "search")


def test_every_route_of_the_code_is_in_the_access_table_and_the_other_way_round() -> None:
    declared = set()
    for area in AREAS:
        app = importlib.import_module(f"{area}.api").app
        for route in [*app._static_routes, *app._dynamic_routes]:
            declared.add((route.method, route.path))
    assert declared == {(row.method, row.route) for row in ROUTES}


@pytest.mark.parametrize(
    ("method", "path", "route"),
    [
        ("GET", "/api/v1/crawl/job_1", "/api/v1/crawl/<job_id>"),
        ("POST", "/api/v1/crawl", "/api/v1/crawl"),
        ("GET", "/health", "/health"),
    ],
)
def test_a_request_finds_its_row(method: str, path: str, route: str) -> None:
    row = find(method, path)
    assert row is not None
    assert row.route == route


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/api/v1/crawl"), ("GET", "/api/v1/crawl/a/b"), ("GET", "/"), ("GET", "/healthz")],
)
def test_a_request_without_a_row_finds_nothing(method: str, path: str) -> None:
    assert find(method, path) is None
