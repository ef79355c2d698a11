"""Fixture: the world of crawls on fakes."""

import pytest

from tests.fakes.crawling import CrawlWorld


@pytest.fixture
def crawl() -> CrawlWorld:
    return CrawlWorld()
