"""The crawl slice on fakes."""

from __future__ import annotations

import pytest

from tests.fakes.crawling import CrawlSlice


@pytest.fixture
def crawl() -> CrawlSlice:
    return CrawlSlice()
