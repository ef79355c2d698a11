"""Proxy configurations and their credentials."""

from dataclasses import replace
from typing import Any

import pytest

from spinneret.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    NotFound,
    UrlBlocked,
    ValidationFailed,
)
from spinneret.web.proxies.models import Credentials, ProxyConfig
from tests.fakes.proxies import Proxies
from tests.fakes.time import START, HandClock
from tests.unit.web.proxies.drafts import SPIDER, draft, server

OTHER = Credentials(username="other", password="")


def credentials_of(proxies: Proxies, config: ProxyConfig) -> list[Credentials | None]:
    """Return the credentials that a fetch would use, one per server."""
    proxies.store.replace(config, config)
    routes = [proxies.rotation.route(config, each) for each in range(len(config.servers))]
    return [
        Credentials(username=route.proxy.username, password=route.proxy.password)
        if route.proxy.username is not None
        else None
        for route in routes
    ]


# covers F-08
def test_a_config_is_stored_with_sealed_credentials(proxies: Proxies) -> None:
    config = proxies.service.create("acme", draft(server(1, credentials=SPIDER), server(2)))
    assert proxies.service.get("acme", config.id).config == config
    assert (config.created_at, config.updated_at, config.version) == (START, START, 1)
    assert [each.url for each in config.servers] == [
        "http://proxy.example:1",
        "http://proxy.example:2",
    ]
    sealed = config.servers[0].sealed_credentials
    assert sealed is not None
    assert b"silk" not in sealed
    assert config.servers[1].sealed_credentials is None
    assert credentials_of(proxies, config) == [SPIDER, None]


@pytest.mark.parametrize(
    "credentials",
    [
        SPIDER,
        OTHER,
        Credentials(username="spider-session-7", password='a:b"c\\d é🕷'),
        Credentials(username="🕷" * 255, password="\\" * 255),
    ],
)
def test_any_credentials_survive_sealing(proxies: Proxies, credentials: Credentials) -> None:
    config = proxies.service.create("acme", draft(server(credentials=credentials)))
    assert credentials_of(proxies, config) == [credentials]


def test_nothing_shows_credentials(proxies: Proxies) -> None:
    asked = draft(server(credentials=SPIDER))
    config = proxies.service.create("acme", asked)
    route = proxies.rotation.route(config, 0)
    for shown in (repr(asked), repr(config), repr(route), str(route)):
        assert "spider" not in shown
        assert "silk" not in shown


def test_servers_are_checked_before_anything_is_sealed(proxies: Proxies) -> None:
    proxies.sealer.available = False
    with pytest.raises(UrlBlocked) as refusal:
        proxies.service.create(
            "acme", draft(server(1, credentials=SPIDER), server(url="http://127.0.0.1:81"))
        )
    assert refusal.value.details["fields"][0]["path"] == "servers.1.url"
    with pytest.raises(DependencyUnavailable):
        proxies.service.create("acme", draft(server(1, credentials=SPIDER)))


def test_a_name_is_taken_once_per_tenant(proxies: Proxies) -> None:
    proxies.service.create("acme", draft())
    with pytest.raises(Conflict):
        proxies.service.create("acme", draft())
    proxies.service.create("other", draft())


def test_a_config_is_replaced_and_keeps_its_age(proxies: Proxies, clock: HandClock) -> None:
    former = proxies.service.create("acme", draft())
    now = clock.advance(60)
    config = proxies.service.replace("acme", former.id, draft(server(9), name="other"))
    assert proxies.service.get("acme", former.id).config == config
    assert (config.id, config.name, config.version) == (former.id, "other", 2)
    assert (config.created_at, config.updated_at) == (START, now)


KEEP = {"keep_credentials": True}


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ([server(1, **KEEP)], [SPIDER]),
        ([server(1)], [None]),
        ([server(1, credentials=OTHER)], [OTHER]),
        ([server(2, **KEEP), server(1, **KEEP)], [None, SPIDER]),
        ([server(3, **KEEP), server(1, **KEEP)], [None, SPIDER]),
        ([server(url="HTTP://Proxy.Example:1/", **KEEP)], [SPIDER]),
        ([server(1, credentials=OTHER), server(1, credentials=SPIDER)], [OTHER, SPIDER]),
    ],
    ids=["kept", "ended", "new", "reordered", "one unknown", "other spelling", "twice"],
)
def test_a_server_keeps_its_credentials_if_it_asks_to(
    proxies: Proxies, given: list[Any], after: list[Credentials | None]
) -> None:
    former = proxies.service.create("acme", draft(server(1, credentials=SPIDER), server(2)))
    config = proxies.service.replace("acme", former.id, draft(*given))
    assert credentials_of(proxies, config) == after


@pytest.mark.parametrize(
    ("before", "given"),
    [
        ([server(1, credentials=SPIDER)], [server(1, **KEEP), server(1, **KEEP)]),
        ([server(1, credentials=SPIDER), server(1, credentials=OTHER)], [server(1, **KEEP)]),
        ([server(1, credentials=SPIDER), server(1)], [server(1, **KEEP)]),
    ],
)
def test_where_it_is_unclear_whose_credentials_are_kept_they_have_to_be_named(
    proxies: Proxies, before: list[Any], given: list[Any]
) -> None:
    former = proxies.service.create("acme", draft(*before))
    with pytest.raises(ValidationFailed) as refusal:
        proxies.service.replace("acme", former.id, draft(*given))
    assert refusal.value.details["fields"][0]["path"] == "servers.0.username"


def test_changes_at_the_same_time_follow_each_other(proxies: Proxies) -> None:
    """Another process changes the configuration between this process's read and write."""
    former = proxies.service.create("acme", draft(server(1, credentials=SPIDER)))
    store = proxies.store
    standing = store.get("acme", former.id)
    assert standing is not None
    plain = store.replace
    raced: list[bool] = []

    def replace_late(old: ProxyConfig, new: ProxyConfig) -> bool:
        if not raced:
            raced.append(plain(standing, replace(standing, version=2, is_active=False)))
        return plain(old, new)

    store.replace = replace_late  # type: ignore[method-assign]  # the fake's timing, not its rules
    config = proxies.service.replace("acme", former.id, draft(server(1, keep_credentials=True)))
    assert raced == [True]
    assert (config.version, config.is_active) == (3, True)
    assert credentials_of(proxies, config) == [SPIDER]


def test_a_removed_config_is_gone(proxies: Proxies) -> None:
    config = proxies.service.create("acme", draft())
    proxies.service.remove("acme", config.id)
    with pytest.raises(NotFound):
        proxies.service.get("acme", config.id)
    assert proxies.rotation.choose("acme", config.id) is None
    proxies.service.create("acme", draft())


def test_foreign_and_unknown_ids_are_the_same(proxies: Proxies) -> None:
    config = proxies.service.create("acme", draft())
    messages = set()
    for tenant, config_id in (("other", config.id), ("acme", "proxy_unknown")):
        for attempt in (
            proxies.service.get,
            lambda t, c: proxies.service.replace(t, c, draft()),
            proxies.service.remove,
        ):
            with pytest.raises(NotFound) as refusal:
                attempt(tenant, config_id)
            messages.add((refusal.value.message, str(refusal.value.details)))
    assert len(messages) == 1
    assert proxies.rotation.choose("other", config.id) is None
    assert proxies.service.get("acme", config.id).config == config
