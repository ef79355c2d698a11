"""Bounds of crawls, each with its source."""

from typing import Final

URLS_PER_BATCH: Final = 100  # seed 003, section 5.2
URLS_PER_CRAWL: Final = 20  # up to four rows per URL in one DynamoDB transaction of at most 100
FETCH_LEAST_SECONDS: Final = 5.0  # skip the request when less time remains
URL_WAIT_SECONDS: Final = 5.0  # a page usually takes less; a lost worker's lease ends by itself
RENDER_LEAST_SECONDS: Final = 15.0  # skip the rendering when less time remains
FETCH_KEPT_SECONDS: Final = 24 * 3600  # C-02 and ruling "Fetch cache"
INBOX_WORK_SECONDS: Final = 3 * 3600.0  # 5,000 writes of 20 crawls, at some 0.2 s each
DEEP_CRAWL_BATCH_SECONDS: Final = 300.0  # claim while a batch is crawled; its pages extend it
DEEP_CRAWL_SLOT_SECONDS: Final = 120.0  # a slot outlasts the next step by this time
DEEP_CRAWL_RETRY_SECONDS: Final = 15.0  # between two tries to acquire a slot
SOURCE_DEEP_PAGES: Final = 100  # ruling "Defaults"; a run has at most 500 with its former ones
PAGE_LEASE_SECONDS: Final = 50.0  # a killed page waits for it; its worker renews it
PAGE_LEASE_LEFT_SECONDS: Final = 40.0  # renewed below this: a fetch or a batch of vectors, 30 s
PAGES_AT_ONCE: Final = 3  # of a deep crawl in one invocation; memory for as many bodies
PAGE_BEGIN_SECONDS: Final = 40.0  # of the invocation, or a page isn't begun: a fetch of 30 s
CLAIM_CHECK_SECONDS: Final = 2.0  # a cancelled deep crawl begins no page later
DEEP_CRAWL_STEP_SECONDS: Final = 50.0  # of the invocation, or another one takes the next block
DEEP_CRAWL_RENEW_SECONDS: Final = 10.0  # between two renewals, with a step of the timeline each
CRAWL_TAGS_MAX: Final = 20  # of one submission
PAGE_MIN_LETTERS: Final = 4  # and digits: `ok` and `0` acknowledge a request and aren't pages
CRAWL_SHOWN_BYTES: Final = 1024 * 1024  # of a page's text, and of its links: a response has 6 MB
CRAWL_LINK_SECONDS: Final = 900  # a role's credentials live longer
