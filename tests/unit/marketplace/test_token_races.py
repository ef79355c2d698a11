"""A refresh that others meet half-way: whatever they do, the rotated token isn't lost."""

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
from tests.markets.bench import Bench
from tests.markets.stores import in_memory

Other = Callable[[Bench], None]


class Meeting:
    """A ConnectionStore of one process: something happens before its call number `at`."""

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
    """A ConnectionStore whose call number `at` isn't answered; it happened, or it didn't."""

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


def fresh() -> Bench:
    bench = Bench(in_memory())
    bench.connect("etsy", seconds=10)
    return bench


def process(bench: Bench, store: Any) -> SellerTokens:
    return bench.new_tokens(store)


def found_out(bench: Bench) -> None:
    bench.tokens.remember(bench.tenant, "etsy", {"shop": "4711"}, account="4711")


def refreshes_too(bench: Bench) -> None:
    with suppress(Defer):
        bench.tokens.access(bench.tenant, "etsy")


def is_refused(bench: Bench) -> None:
    access = bench.tokens._opened(standing(bench))
    with suppress(Defer):
        bench.tokens.refresh(bench.tenant, "etsy", access)


def connects_again(bench: Bench) -> None:
    url = bench.connecting.begin(bench.tenant, "etsy")
    [state] = parse_qs(urlsplit(url).query)["state"]
    bench.connecting.finish("etsy", state, "code-9")


OTHERS: list[Other] = [found_out, refreshes_too, is_refused, connects_again]


def standing(bench: Bench) -> SellerConnection:
    found = bench.connections.get(bench.tenant, "etsy")
    assert found is not None
    return found


def refresh_token(bench: Bench) -> str:
    return bench.vault.unseal(bench.tenant, "etsy", REFRESH, standing(bench).sealed_refresh)


def is_good(bench: Bench) -> bool:
    """Also for whoever comes later, once the lease of a refresh has ended."""
    bench.clock.advance(3600)
    later = bench.tokens.access(bench.tenant, "etsy")
    assert later.token in bench.etsy.tokens
    assert refresh_token(bench) == bench.etsy.refresh_token
    return standing(bench).status is ConnectionStatus.ACTIVE


def points(bench: Bench) -> Iterator[int]:
    counted = Meeting(bench.connections, 0, lambda: None)
    process(bench, counted).access(bench.tenant, "etsy")
    assert counted.calls >= 3
    return iter(range(1, counted.calls + 1))


@pytest.mark.parametrize("other", OTHERS, ids=[each.__name__ for each in OTHERS])
def test_a_rotated_token_is_kept_whatever_comes_between_two_calls_of_the_store(
    other: Other,
) -> None:
    for at in points(fresh()):
        bench = fresh()
        store = Meeting(bench.connections, at, lambda bench=bench: other(bench))  # type: ignore[misc]
        with suppress(Defer):
            got = process(bench, store).access(bench.tenant, "etsy")
            assert got.token in bench.etsy.tokens, at
        assert bench.etsy.refused_tokens == [], at
        assert is_good(bench), at


@pytest.mark.parametrize("happened", [True, False], ids=["after it happened", "before it happened"])
def test_a_rotated_token_is_kept_when_the_store_does_not_answer_once(happened: bool) -> None:
    for at in points(fresh()):
        bench = fresh()
        store = Losing(bench.connections, at, happened=happened)
        with suppress(DependencyUnavailable, Defer):
            process(bench, store).access(bench.tenant, "etsy")
        assert is_good(bench), at


def test_a_seller_who_disconnects_meanwhile_stays_disconnected() -> None:
    for at in points(fresh()):
        bench = fresh()
        store = Meeting(
            bench.connections,
            at,
            lambda bench=bench: bench.connecting.end(bench.tenant, "etsy"),  # type: ignore[misc]
        )
        with pytest.raises((ReauthNeeded, Defer)):
            process(bench, store).access(bench.tenant, "etsy")
        assert bench.connections.get(bench.tenant, "etsy") is None, at


def test_a_seller_who_connects_again_while_a_refresh_is_refused_stays_connected() -> None:
    bench = fresh()
    bench.etsy.refresh_token = "77.another"  # the seller withdrew the leave

    def around(name: str, serve: Callable[[], Any]) -> Any:
        bench.web.around = lambda _, serve: serve()
        said = serve()
        connects_again(bench)
        return said

    bench.web.around = around
    assert bench.tokens.access(bench.tenant, "etsy").token in bench.etsy.tokens
    assert is_good(bench)


def test_a_rotated_token_outlives_the_refusal_of_one_by_a_clock_that_is_ahead() -> None:
    bench = fresh()

    def around(name: str, serve: Callable[[], Any]) -> Any:
        bench.web.around = lambda _, serve: serve()
        said = serve()
        bench.clock.advance(60)
        with pytest.raises(ReauthNeeded):  # the exchanged token is brought a second time
            bench.tokens.access(bench.tenant, "etsy")
        bench.clock.advance(-60)
        return said

    bench.web.around = around
    assert bench.tokens.access(bench.tenant, "etsy").token in bench.etsy.tokens
    assert is_good(bench)


@pytest.mark.heavy
def test_a_new_consent_is_above_what_a_refresh_writes_meanwhile(moto_tables: Tables) -> None:
    bench = Bench(moto_tables)
    bench.connect("etsy")
    first = standing(bench)
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
    assert standing(bench).sealed_refresh == (b"new",)
