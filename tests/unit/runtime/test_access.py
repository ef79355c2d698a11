"""The table of routes and the scopes that they require."""

import re

import pytest

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.runtime.http.access import AccessTable, RouteAccess
from spinneret.runtime.http.declaration import declared
from tests.routes import ROUTES, TABLE
from tests.rows import each_row


@each_row((f"{row.method} {row.route}", row) for row in ROUTES)
def test_every_row_is_found_by_a_path_of_its_route(row: RouteAccess) -> None:
    assert TABLE.find(row.method, re.sub("<[a-z_]+>", "id_1", row.route)) == row


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/crawl/"),
        ("GET", "/api/v1/crawl/a/b"),
        ("GET", "/api/v1/crawl/a/"),
        ("POST", "/api/v1/crawl/a"),
        ("GET", "/api/v1/search"),
        ("get", "/health"),
        ("GET", "/health/"),
        ("GET", "/health/ready/x"),
        ("GET", "//health"),
        ("GET", "/HEALTH"),
        ("GET", "/x/health"),
        ("OPTIONS", "/api/v1/crawl"),
        ("HEAD", "/health"),
        ("", ""),
    ],
)
def test_what_is_not_listed_is_not_served(method: str, path: str) -> None:
    assert TABLE.find(method, path) is None


def test_only_static_texts_sign_in_status_pages_and_marketplaces_calls_are_open() -> None:
    assert {row.route for row in ROUTES if row.scope is None} == {
        "/health",
        "/health/ready",
        "/api/v1/health",
        "/api/v1/health/ready",
        "/api/v1/openapi.json",
        "/docs",
        "/docs/<part_name>",
        "/console",
        "/console/index.html",
        "/console/icon.svg",
        "/console/<version>/<folder>/<file_name>",
        "/.well-known/jwks.json",
        "/api/v1/auth/login",
        "/api/v1/auth/accept",  # with an invitation
        "/api/v1/auth/refresh",  # with a refresh token, like logout
        "/api/v1/auth/logout",
        "/api/marketplace/<marketplace>/callback",  # OAuth's `state` identifies the caller
        "/api/marketplace/webhooks/<marketplace>",  # with a signature
        "/status/<slug>",  # for everyone who knows the slug
        "/status/<slug>/badges/<target_id>.svg",
        "/status/<slug>/feed.xml",
        "/heartbeats",  # with a secret token
    }


# covers T-03
def test_what_changes_something_asks_for_more_than_reading() -> None:
    searches = {f"/api/v1/search{leg}" for leg in ("", "/vector", "/keyword")}
    reading = {*searches, "/api/v1/jobs/<job_id>/tickets", "/api/v1/discover/score"}
    own = {f"/api/v1/auth/{each}" for each in ("login", "accept", "refresh", "logout", "password")}
    signed = {"/api/marketplace/webhooks/<marketplace>", "/heartbeats"}  # or with a secret token
    others = reading | own | signed
    changing = [row for row in ROUTES if row.method != "GET" and row.route not in others]
    assert changing
    assert all(row.scope in {Scope.WRITE, Scope.ADMIN} for row in changing)


# covers T-03
def test_every_permission_is_some_routes() -> None:
    assert {row.permission for row in ROUTES} == {None, *Permission}


@pytest.mark.parametrize(
    ("scope", "permission"), [(Scope.READ, None), (None, Permission.VIEW_JOBS)]
)
def test_a_route_declares_scope_and_permission_or_neither(
    scope: Scope | None, permission: Permission | None
) -> None:
    with pytest.raises(ValueError, match="a scope and a permission"):
        declared(scope, permission)


# covers T-03
def test_reading_and_changing_have_different_permissions() -> None:
    reading = {row.permission for row in ROUTES if row.scope is Scope.READ}
    changing = {row.permission for row in ROUTES if row.scope in {Scope.WRITE, Scope.ADMIN}}
    assert reading & changing == set()


def test_a_parameter_matches_one_segment_of_any_characters() -> None:
    table = AccessTable([RouteAccess("GET", "/a/<one>/b/<two>", Scope.READ)])
    assert table.find("GET", "/a/x.y%2F-é/b/1") == table.rows[0]
    for path in ("/a//b/1", "/a/x/b/", "/a/x/y/b/1"):
        assert table.find("GET", path) is None


def test_only_an_administrator_sees_and_changes_keys() -> None:
    rows = [row for row in ROUTES if row.route.startswith("/api/v1/api-keys")]
    assert {row.method for row in rows} == {"GET", "POST", "DELETE"}
    assert {row.scope for row in rows} == {Scope.ADMIN}


def test_a_ticket_opens_streams_of_jobs_only() -> None:
    rows = [row for row in ROUTES if row.ticket]
    assert {(row.method, row.route) for row in rows} == {
        ("GET", "/audits/<audit_id>/stream"),
        ("GET", "/api/v1/crawl/<job_id>/stream"),
        ("GET", "/api/v1/jobs/<job_id>/stream"),
    }
    assert {row.scope for row in rows} == {Scope.READ}


def test_the_parameters_of_a_path_have_their_names() -> None:
    row = RouteAccess("GET", "/a/<one>/b/<two>", Scope.READ)
    assert row.parameters("/a/x/b/y%2F") == {"one": "x", "two": "y%2F"}
    assert row.parameters("/a/x/b") is None
