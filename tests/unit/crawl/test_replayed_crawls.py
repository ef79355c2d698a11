"""Submissions with an Idempotency-Key: the stored response precedes any check of the state."""

from collections.abc import Mapping

import pytest

from spinneret.crawl.models import CrawlRequest
from spinneret.jobs.models import RequestKey
from spinneret.kernel.errors import FeatureDisabled, IdempotencyMismatch, ValidationFailed
from spinneret.web.proxies.models import RotationStrategy
from spinneret.web.proxies.service import ConfigDraft, ServerDraft
from tests.fakes.crawling import CrawlWorld

URL = "https://site.example/page"
KEY = RequestKey(tenant="acme", scope="one", payload="same")
OTHER = RequestKey(tenant="acme", scope="one", payload="other")


@pytest.mark.parametrize("one_url", [True, False])
def test_a_crawl_is_replayed_after_its_proxy_config_is_gone(
    crawl: CrawlWorld, one_url: bool
) -> None:
    server = ServerDraft(url="http://proxy.example:3001")
    draft = ConfigDraft(
        name="main", servers=(server,), strategy=RotationStrategy.ROUND_ROBIN, is_active=True
    )
    config = crawl.proxies.service.create("acme", draft)
    url, urls = (URL, None) if one_url else (None, (URL, f"{URL}/2"))
    request = CrawlRequest(url=url, urls=urls, proxy_config_id=config.id)
    first = crawl.crawls().submit("acme", request, KEY)
    crawl.proxies.service.remove("acme", config.id)
    replay = crawl.crawls().submit("acme", request, KEY)
    assert (replay.reply, replay.replayed) == (first.reply, True)
    with pytest.raises(IdempotencyMismatch):
        crawl.crawls().submit("acme", request, OTHER)
    with pytest.raises(ValidationFailed):
        crawl.crawls().submit("acme", request, None)


def test_a_crawl_with_a_webhook_is_replayed_after_webhooks_were_switched_off(
    crawl: CrawlWorld,
) -> None:
    def switched_off(
        _tenant: str, _url: str | None, _headers: Mapping[str, str]
    ) -> tuple[str, ...]:
        raise FeatureDisabled("webhooks are disabled")

    request = CrawlRequest(url=URL, webhook_url="https://own.example/hook")
    first = crawl.crawls().submit("acme", request, KEY)
    crawl.webhooks.targets = switched_off
    replay = crawl.crawls().submit("acme", request, KEY)
    assert (replay.reply, replay.replayed) == (first.reply, True)
    with pytest.raises(FeatureDisabled):
        crawl.crawls().submit("acme", request, None)
