"""Bounds of audits, each with its origin."""

from __future__ import annotations

from typing import Final

from spinneret.kernel import bounds

# A thousand pages and five hundred links at a request a second are 25 minutes.
WORK_SECONDS: Final = 3600.0
CRAWL_WORK_SECONDS: Final = 2400.0  # then no further page is asked for, …
LINK_WORK_SECONDS: Final = 3000.0  # … and no further link; what is known is judged and reported
PENDING_SECONDS: Final = 24 * 3600.0  # a crawl-delay of a minute and a hundred pages are two hours

REQUEST_SECONDS: Final = 30.0  # F-01
SLICE_SECONDS: Final = (  # so much has to be left for a request, what it writes, and the hand-back
    REQUEST_SECONDS + 15.0 + bounds.DEADLINE_MARGIN_SECONDS
)
JUDGE_SECONDS: Final = 90.0  # a thousand pages take 15 s, their reports 10 s more
PAGE_LEASE_SECONDS: Final = REQUEST_SECONDS + 20.0  # of a page in the frontier
WAIT_MAX_SECONDS: Final = 240.0  # then the audit is back to renew its lock, which lasts 300 s
RENEW_SECONDS: Final = 60.0  # between two renewals of the lock

PAGES: Final = 100  # a bounded sample
PAGES_MAX: Final = bounds.CRAWL_PAGES_MAX
EXTERNAL_LINKS: Final = 500
EXTERNAL_LINKS_MAX: Final = 2000
IMAGES: Final = 100  # as many as pages: mostly each page has one of its own
IMAGES_MAX: Final = 1000
DEPTH: Final = bounds.CRAWL_DEPTH_MAX

SITEMAPS: Final = 10  # files; 500,000 URLs
SITEMAP_BYTES: Final = bounds.SITEMAP_MAX_BYTES  # sitemaps.org
SITEMAP_SHARE: Final = 4  # of a large site's sample a quarter comes from its sitemaps
TEXT_BYTES: Final = 64 * 1024  # of llms.txt
ROBOTS_BYTES: Final = bounds.ROBOTS_MAX_BYTES

LINK_SECONDS: Final = 10.0  # a link that takes longer doesn't help a reader either
LINK_WAIT_SECONDS: Final = 60.0  # a host that is to be left alone for longer isn't waited for
LINKS_PER_WRITE: Final = 25  # what a worker that dies asks for again
FACTS_BYTES: Final = 350 * 1024  # compressed, of DynamoDB's 400 KB

HTML_RETENTION_DAYS: Final = 14
URL_SECONDS: Final = 3600  # of a presigned URL: a role's credentials may end earlier
ISSUES_BYTES: Final = 64 * 1024 * 1024  # of the log of issues, decompressed

PREVIEW_SECONDS: Final = 20.0  # API Gateway ends a request after 29 s
PREVIEW_SITEMAP_BYTES: Final = 2 * 1024 * 1024
SCHEDULES_PER_TENANT: Final = 100
SCHEDULES_PER_PASS: Final = 200
DUE_SHARDS: Final = 4
