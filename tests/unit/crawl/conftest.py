"""The crawl slice on fakes."""

import pytest

from tests.fakes.crawling import CrawlSlice


@pytest.fixture
def crawl() -> CrawlSlice:
    return CrawlSlice()
