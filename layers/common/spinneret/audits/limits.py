"""Bounds of audits, each with its source."""

from typing import Final

from spinneret.kernel import bounds

# A thousand pages and five hundred links at a request a second take 25 minutes.
WORK_SECONDS: Final = 3600.0
CRAWL_WORK_SECONDS: Final = 2400.0  # then no further page is requested, …
LINK_WORK_SECONDS: Final = 3000.0  # … then no further link; the facts so far are judged
PENDING_SECONDS: Final = 24 * 3600.0  # a crawl-delay of a minute and a hundred pages take two hours

REQUEST_SECONDS: Final = 30.0  # F-01
SLICE_SECONDS: Final = (  # minimum time for a request, its writes, and releasing the job
    REQUEST_SECONDS + 15.0 + bounds.DEADLINE_MARGIN_SECONDS
)
JUDGE_SECONDS: Final = 90.0  # a thousand pages take 15 s, their reports 10 s more
PAGE_LEASE_SECONDS: Final = REQUEST_SECONDS + 20.0  # lease of a page in the frontier
SITE_WAIT_SECONDS: Final = 900  # for a site that answers with errors only; then the audit fails
SAME_SITE_SECONDS: Final = 15.0  # between two looks at the tenant's own audit of the host
WAIT_MAX_SECONDS: Final = 240.0  # then the audit resumes to renew its lock, which lasts 300 s
RENEW_SECONDS: Final = 60.0  # between two renewals of the lock

PAGES: Final = 100  # a bounded sample
URLS_MAX: Final = 200  # of a list; they are in the job's payload
URLS_MAX_CHARS: Final = 50_000  # of all of them, a third of a payload
CHECKS_OFF_MAX: Final = 200  # more than there are
CHECK_NAME_MAX_CHARS: Final = 100
PAGES_MAX: Final = bounds.CRAWL_PAGES_MAX
EXTERNAL_LINKS: Final = 500
EXTERNAL_LINKS_MAX: Final = 2000
IMAGES: Final = 100  # one per page: most pages have one image of their own
IMAGES_MAX: Final = 1000
TARGETS: Final = 500  # that no link leads to, at most as many as pages: eight minutes at one host
DEPTH: Final = bounds.CRAWL_DEPTH_MAX

SITEMAPS: Final = 10  # files; 500,000 URLs
SITEMAP_BYTES: Final = bounds.SITEMAP_MAX_BYTES  # sitemaps.org
SITEMAP_READ: Final = 2000  # number of their URLs that are read for the sample
SITEMAP_SHARE: Final = 4  # a quarter of a large site's sample comes from its sitemaps
TEXT_BYTES: Final = 64 * 1024  # maximum size of llms.txt
ROBOTS_BYTES: Final = bounds.ROBOTS_MAX_BYTES

LINK_SECONDS: Final = 10.0  # a slower link doesn't help readers either
LINK_WAIT_SECONDS: Final = 60.0  # hosts that must be left alone for longer are skipped
LINKS_PER_WRITE: Final = 25  # requests that are repeated if a worker dies
FACTS_BYTES: Final = 350 * 1024  # compressed; DynamoDB's items have at most 400 KB

HTML_RETENTION_DAYS: Final = 14
URL_SECONDS: Final = 3600  # of a presigned URL: a role's credentials may expire earlier

PREVIEW_SECONDS: Final = 20.0  # API Gateway ends a request after 29 s
PREVIEW_SITEMAP_BYTES: Final = 2 * 1024 * 1024
SCHEDULES_PER_TENANT: Final = 100
SCHEDULES_PER_PASS: Final = 200
DUE_SHARDS: Final = 4
