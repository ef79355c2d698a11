"""Races during a token refresh: whatever another process does, the rotated token isn't lost."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from spinneret.jobs.worker import Defer
from spinneret.kernel.errors import DependencyUnavailable, ReauthNeeded
from spinneret.marketplace.connections.dynamo import DynamoConnections
from spinneret.marketplace.connections.models import ConnectionStatus, SellerConnection
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.connections.tokens import REFRESH, SellerTokens
from tests.contract.backends import Tables
from tests.markets.stores import in_memory
from tests.markets.world import MarketWorld

Other = Callable[[MarketWorld], None]


class Meeting:
    """Implements SellerConnectionStore; calls `happens` before its call number `at`."""

    def __init__(self, store: SellerConnectionStore, at: int, happens: Callable[[], None]) -> None:
        self._store = store
        self._at = at
        self._happens = happens
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> Any:
            self.calls += 1
            if self.calls == self._at:
                self._happens()
            return getattr(self._store, name)(*given)

        return call


class Losing:
    """Implements SellerConnectionStore; its call number `at` fails, after or without its effect."""

    def __init__(self, store: SellerConnectionStore, at: int, *, happened: bool) -> None:
        self._store = store
        self._at = at
        self._happened = happened
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> Any:
            self.calls += 1
            lost = self.calls == self._at
            if lost and not self._happened:
                raise DependencyUnavailable("dynamodb")
            answer = getattr(self._store, name)(*given)
            if lost:
                raise DependencyUnavailable("dynamodb")
            return answer

        return call


def fresh() -> MarketWorld:
    world = MarketWorld(in_memory())
    world.connect("etsy", seconds=10)
    return world


def process(world: MarketWorld, store: Any) -> SellerTokens:
    return world.new_tokens(store)


def found_out(world: MarketWorld) -> None:
    world.tokens.remember(world.tenant, "etsy", {"shop": "4711"}, account="4711")


def refreshes_too(world: MarketWorld) -> None:
    with suppress(Defer):
        world.tokens.access(world.tenant, "etsy")


def is_refused(world: MarketWorld) -> None:
    access = world.tokens._opened(standing(world))
    with suppress(Defer):
        world.tokens.refresh(world.tenant, "etsy", access)


def connects_again(world: MarketWorld) -> None:
    url = world.connecting.begin(world.tenant, "etsy")
    [state] = parse_qs(urlsplit(url).query)["state"]
    world.connecting.finish("etsy", state, "code-9")


OTHERS: list[Other] = [found_out, refreshes_too, is_refused, connects_again]


def standing(world: MarketWorld) -> SellerConnection:
    found = world.connections.get(world.tenant, "etsy")
    assert found is not None
    return found


def refresh_token(world: MarketWorld) -> str:
    return world.vault.unseal(world.tenant, "etsy", REFRESH, standing(world).sealed_refresh)


def is_good(world: MarketWorld) -> bool:
    """Return whether the connection is active; check that a later refresh gets a valid token.

    An hour later, the lease of an earlier refresh has ended.
    """
    world.clock.advance(3600)
    later = world.tokens.access(world.tenant, "etsy")
    assert later.token in world.etsy.tokens
    assert refresh_token(world) == world.etsy.refresh_token
    return standing(world).status is ConnectionStatus.ACTIVE


def points(world: MarketWorld) -> Iterator[int]:
    counted = Meeting(world.connections, 0, lambda: None)
    process(world, counted).access(world.tenant, "etsy")
    assert counted.calls >= 3
    return iter(range(1, counted.calls + 1))


@pytest.mark.parametrize("other", OTHERS, ids=[each.__name__ for each in OTHERS])
def test_a_rotated_token_is_kept_whatever_comes_between_two_calls_of_the_store(
    other: Other,
) -> None:
    for at in points(fresh()):
        world = fresh()
        store = Meeting(world.connections, at, lambda world=world: other(world))  # type: ignore[misc]
        with suppress(Defer):
            got = process(world, store).access(world.tenant, "etsy")
            assert got.token in world.etsy.tokens, at
        assert world.etsy.refused_tokens == [], at
        assert is_good(world), at


@pytest.mark.parametrize("happened", [True, False], ids=["after it happened", "before it happened"])
def test_a_rotated_token_is_kept_when_the_store_does_not_answer_once(happened: bool) -> None:
    for at in points(fresh()):
        world = fresh()
        store = Losing(world.connections, at, happened=happened)
        with suppress(DependencyUnavailable, Defer):
            process(world, store).access(world.tenant, "etsy")
        assert is_good(world), at


def test_a_seller_who_disconnects_meanwhile_stays_disconnected() -> None:
    for at in points(fresh()):
        world = fresh()
        store = Meeting(
            world.connections,
            at,
            lambda world=world: world.connecting.end(world.tenant, "etsy"),  # type: ignore[misc]
        )
        with pytest.raises((ReauthNeeded, Defer)):
            process(world, store).access(world.tenant, "etsy")
        assert world.connections.get(world.tenant, "etsy") is None, at


def test_a_seller_who_connects_again_while_a_refresh_is_refused_stays_connected() -> None:
    world = fresh()
    world.etsy.refresh_token = "77.another"  # the seller revoked the authorization

    def around(name: str, serve: Callable[[], Any]) -> Any:
        world.web.around = lambda _, serve: serve()
        said = serve()
        connects_again(world)
        return said

    world.web.around = around
    assert world.tokens.access(world.tenant, "etsy").token in world.etsy.tokens
    assert is_good(world)


def test_a_rotated_token_outlives_the_refusal_of_one_by_a_clock_that_is_ahead() -> None:
    world = fresh()

    def around(name: str, serve: Callable[[], Any]) -> Any:
        world.web.around = lambda _, serve: serve()
        said = serve()
        world.clock.advance(60)
        with pytest.raises(ReauthNeeded):  # the exchanged refresh token is sent a second time
            world.tokens.access(world.tenant, "etsy")
        world.clock.advance(-60)
        return said

    world.web.around = around
    assert world.tokens.access(world.tenant, "etsy").token in world.etsy.tokens
    assert is_good(world)


@pytest.mark.heavy
def test_a_new_consent_is_above_what_a_refresh_writes_meanwhile(moto_tables: Tables) -> None:
    world = MarketWorld(moto_tables)
    world.connect("etsy")
    first = standing(world)
    store = DynamoConnections(moto_tables.client, moto_tables.names["Marketplace"])
    refreshing = replace(first, version=first.version + 1)

    class Met(DynamoConnections):
        def get(self, tenant: str, marketplace: str) -> SellerConnection | None:
            found = super().get(tenant, marketplace)
            store.replace(refreshing)
            return found

    Met(moto_tables.client, moto_tables.names["Marketplace"]).put(
        replace(first, sealed_refresh=(b"new",))
    )
    assert not store.replace(replace(refreshing, version=first.version + 2))
    assert standing(world).sealed_refresh == (b"new",)
