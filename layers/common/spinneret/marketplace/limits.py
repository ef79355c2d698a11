"""Bounds of marketplace calls and listings, each with its source."""

from typing import Final

MARKETPLACE_PENDING_SECONDS: Final = 3600.0  # B-05: 1 h expiry while pending
MARKETPLACE_CALL_SECONDS: Final = 15.0  # one call of a marketplace's API
MARKETPLACE_ANSWER_BYTES: Final = 2 * 1024 * 1024  # of JSON; a page of 50 orders is far below
MARKETPLACE_IMAGE_BYTES: Final = 10 * 1024 * 1024  # an image transferred from its URL
MARKETPLACE_HOLD_SECONDS: Final = 30 * 24 * 3600.0  # maximum time that one answer may stop a seller
MARKETPLACE_WAIT_SECONDS: Final = 1.0  # maximum time a worker sleeps for the seller's rate limit
PUBLISH_LED_SECONDS: Final = 900.0  # a job that its batch hasn't started by then gets a message
PUBLISH_BATCH_WORK_SECONDS: Final = 7 * 24 * 3600.0  # under executions, which mostly wait
TOKEN_EARLY_SECONDS: Final = 300  # an access token is refreshed this long before it expires
TOKEN_REFRESH_SECONDS: Final = 30  # a running refresh counts as lost after this
PRECONDITIONS_FRESH_SECONDS: Final = 3600  # a shop's policies and locations are cached this long
CHOICES_FRESH_SECONDS: Final = 60  # so long a choice that is gone, or new, may be overlooked
PRECONDITIONS_DOUBTFUL_SECONDS: Final = 60  # as long, if one is missing or the job is a retry
IMPORT_PAGE: Final = 25  # listings of a page, and of a transaction: below DynamoDB's 100 and 4 MB
PLUGIN_TASK_SECONDS: Final = 60.0  # B-07: maximum response time of a plug-in
PLUGIN_WAITS_WOKEN: Final = 25  # by one hello; the others' heartbeats end soon
RECONCILED_PER_READ: Final = 50  # listings that are checked again when orders are read
SELLERS_POLLED_PER_PASS: Final = 200  # every five minutes; the next pass continues there
SALES_ADJUSTED_PER_PASS: Final = 200
LISTING_REVISIONS_PER_DAY: Final = 250  # eBay: per listing and day
READ_BACK_SECONDS: Final = 180.0  # maximum time for which a step repeats after a read-back
READ_BACK_PAUSE_SECONDS: Final = 5.0  # before the first repetition; then as long as it took so far
MARKETPLACE_SKEW_SECONDS: Final = 300.0  # between a marketplace's clock and ours, and of a call
LISTING_SETTLE_SECONDS: Final = 120.0  # look-ups may miss a new Etsy listing for this long
BATCH_PRODUCTS_MAX: Final = 500  # the source's example of a batch
PUBLISH_AHEAD_DAYS: Final = 30  # of a scheduled job; its rows are kept until its end
PUBLISHED_AT_ONCE: Final = 5  # jobs of one seller on one marketplace; also set in the machine's map
PUBLISH_ROUND_JOBS: Final = 25  # of one map
PUBLISH_VISIT_STEPS: Final = 20  # of one job in one map
PUBLISH_ROUND_SECONDS: Final = 600.0  # a round's lease; its steps renew it
PUBLISH_PAUSE_SECONDS: Final = 15.0  # a job that waits longer releases its slot to the next one
PUBLISH_BUSY_SECONDS: Final = 10.0  # until a job without a slot tries again
PUBLISH_LOOK_SECONDS: Final = 60.0  # between two checks of a batch whose jobs wait longer
