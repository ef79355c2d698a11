"""Routes: a tenant's settings for domains."""

from __future__ import annotations

from typing import Annotated, cast

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from spinneret.crawl.wiring import CrawlApi
from spinneret.kernel import limits
from spinneret.kernel.errors import ValidationFailed
from spinneret.runtime.answers import answers
from spinneret.runtime.requests import principal
from spinneret.sites.api_models import (
    BlockRequest,
    DomainDetail,
    DomainList,
    DomainUpdate,
    DomainView,
    domain_detail,
    domain_list,
    domain_of,
    domain_view,
)
from spinneret.sites.models import DomainSettings
from spinneret.sites.rules import parse_domain
from spinneret.sites.service import SiteSettings

router = Router()  # type: ignore[no-untyped-call]  # published without a signature

Limit = Annotated[int, Query(ge=1, le=limits.LIST_LIMIT_MAX)]


@router.get("/api/v1/domains")
def list_domains(
    blocked: bool | None = None,
    limit: Limit = limits.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> DomainList:
    """Domains with settings, by name. The filter looks at a bounded number of them per page."""
    page = _sites().page(_tenant(), blocked, domain_of(cursor), limit)
    return domain_list(page, _sites().pace_under)


@router.get("/api/v1/domains/<domain>", **answers({200: DomainDetail}, ValidationFailed))
def get_domain(domain: str) -> DomainDetail:
    """The settings for a domain, or the defaults, and its breaker."""
    return domain_detail(_sites().get(_tenant(), parse_domain(domain)))


@router.put("/api/v1/domains/<domain>")
def put_domain(domain: str, update: DomainUpdate) -> DomainView:
    """Replace the settings for one host: a pace slower than the default, and notes.

    A block stays as it is. The breaker is shared by all tenants and isn't settable.
    """
    name = parse_domain(domain)
    return _view(_sites().put(_tenant(), name, update.override, update.notes))


@router.post("/api/v1/domains/<domain>/block")
def block_domain(domain: str, request: BlockRequest) -> DomainView:
    """Refuse a domain and everything below it."""
    return _view(_sites().block(_tenant(), parse_domain(domain), request.reason))


@router.post("/api/v1/domains/<domain>/unblock", **answers({200: DomainView}, ValidationFailed))
def unblock_domain(domain: str) -> DomainView:
    """End a domain's own block; answers the settings, also when it wasn't blocked."""
    return _view(_sites().unblock(_tenant(), parse_domain(domain)))


@router.post("/api/v1/domains/<domain>/reset", **answers({200: DomainDetail}, ValidationFailed))
def reset_domain(domain: str) -> DomainDetail:
    """Close a domain's breaker, for all tenants."""
    return domain_detail(_sites().reset(_tenant(), parse_domain(domain)))


def _view(settings: DomainSettings) -> DomainView:
    return domain_view(settings, _sites().pace_under(settings.override))


def _tenant() -> str:
    return principal(router).tenant


def _sites() -> SiteSettings:
    return cast(CrawlApi, router.context["services"]).sites
