"""Rotation of proxies, on real sockets."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from spinneret.kernel.errors import ProxyFailed
from spinneret.kernel.ids import id_maker
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.proxies.models import Credentials, RotationStrategy
from spinneret.web.proxies.rotation import ProxyRotation, RotatingFetcher
from spinneret.web.proxies.service import ConfigDraft, CredentialSeal, ProxyService, ServerDraft
from tests.fakes.connect_proxy import tunnel
from tests.fakes.guarded_fetch import PAGE, PUBLIC, ScriptedResolver, fetcher, request
from tests.fakes.proxies import FakeProxyStore, FakeProxyUsageStore
from tests.fakes.scripted_server import ScriptedServer, answer
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock

URL = "http://site.example/page"
TARGET = f"{PUBLIC}:80"


@pytest.fixture
def servers() -> Iterator[list[ScriptedServer]]:
    """Start two proxies and the host to which they tunnel, and provide them in this order."""
    with ExitStack() as running:
        *proxies, site = [running.enter_context(ScriptedServer()) for _ in range(3)]
        site.behaviours["/page"] = answer(PAGE)
        for proxy in proxies:
            proxy.behaviours[TARGET] = tunnel(site)
        yield [*proxies, site]


def test_fetches_go_round_and_leave_a_failing_proxy_alone(servers: list[ScriptedServer]) -> None:
    one, other, site = servers
    clock, store, usage = HandClock(), FakeProxyStore(), FakeProxyUsageStore()
    seal = CredentialSeal(sealer=FakeSealer())
    service = ProxyService(
        store=store,
        usage=usage,
        seal=seal,
        policy=AddressPolicy(frozenset({one.pair, other.pair})),
        clock=clock,
        new_id=id_maker(clock),
        enabled=True,
    )
    secret = Credentials(username="spider", password="silk")
    drafts = tuple(ServerDraft(url=proxy.url(), credentials=secret) for proxy in (one, other))
    config = service.create(
        "acme",
        ConfigDraft(
            name="main", servers=drafts, strategy=RotationStrategy.ROUND_ROBIN, is_active=True
        ),
    )
    direct = fetcher(one, other, resolver=ScriptedResolver([PUBLIC]))
    rotating = RotatingFetcher(
        rotation=ProxyRotation(
            store=store, usage=usage, seal=seal, clock=clock, random=lambda: 0.0
        ),
        direct=direct,
        through=direct.through,
        enabled=True,
    )

    def visit() -> bytes:
        return rotating.fetch(rotating.choose("acme", config.id), request(URL)).body

    assert [visit() for _ in range(4)] == [PAGE] * 4
    assert [len(proxy.requests) for proxy in (one, other)] == [2, 2]
    one.behaviours[TARGET] = answer(status=407)
    for _ in range(3):
        with pytest.raises(ProxyFailed):
            visit()
        visit()
    assert service.get("acme", config.id).failures == (3, 0)
    seen = len(one.requests)
    assert [visit() for _ in range(4)] == [PAGE] * 4
    assert len(one.requests) == seen
    assert all("proxy-authorization" not in sent.headers for sent in site.requests)
