"""Every bound of the product, each with its origin (T-06, F-01 … are rows of the requirements)."""

from __future__ import annotations

from typing import Final

URL_MAX_CHARS: Final = 2048  # T-06
QUERY_MAX_CHARS: Final = 1000  # T-06
REQUEST_BODY_MAX_BYTES: Final = 5 * 1024 * 1024  # Lambda takes 6 MB; the event wraps the body
UPLOAD_MAX_BYTES: Final = 10 * 1024 * 1024  # T-06
UPLOAD_FORM_SECONDS: Final = 900  # for 10 MB over a slow line; a role's credentials live longer
URLS_PER_BATCH: Final = 100  # seed 003, section 5.2
URLS_PER_CRAWL: Final = 20  # up to four rows per URL in one DynamoDB transaction of at most 100
IDEMPOTENCY_KEY_MAX_CHARS: Final = 255  # as Stripe's API

FETCH_TOTAL_SECONDS: Final = 30.0  # F-01
FETCH_MAX_BYTES: Final = 10 * 1024 * 1024  # F-01, default
CRAWL_MAX_BYTES: Final = 50 * 1024 * 1024  # F-01, for crawls
CRAWL_MAX_REDIRECTS: Final = 10  # F-01, for crawls
FETCH_KEPT_SECONDS: Final = 24 * 3600  # C-02 and ruling "Fetch cache"
FETCH_MAX_REDIRECTS: Final = 5  # F-01, default
FETCH_MAX_HEADERS: Final = 200  # fields of an answer; Apache, for one, takes 100 of a request

CHUNK_TOKENS: Final = 512  # C-04
CHUNK_OVERLAP_TOKENS: Final = 50  # C-04
CHUNK_MIN_TOKENS: Final = 50  # C-04
CHUNK_MAX_BYTES: Final = 10 * 1024  # T-06
EMBED_BATCH: Final = 32  # C-05; also the default max_client_batch_size of TEI
EMBED_SECONDS: Final = 60.0  # ruling "Embeddings"
EMBED_ATTEMPTS: Final = 3  # ruling "Embeddings"
EMBED_MIN_NORM: Final = 0.1  # ruling "Embeddings", before normalising

SEARCH_LIMIT_DEFAULT: Final = 10  # ruling "Defaults"
SEARCH_LIMIT_MAX: Final = 100  # ruling "Defaults"
SEARCH_WINDOW: Final = 100  # candidates per leg: over-fetching for hits of outdated versions
RRF_K: Final = 60  # S-02; Cormack, Clarke and Büttcher, SIGIR 2009
SEARCH_SECONDS: Final = 10.0  # API Gateway ends a request after 29 s
SEARCH_EMBED_SECONDS: Final = 3.0  # of it, for the query's vector; the rest is the keyword leg's
SEARCH_ROUNDS: Final = 3  # with what is outdated left out, where that leaves too few hits
SEARCH_FILTER_VALUES: Final = 50  # alternatives of one filter
QUERY_TERMS: Final = 256  # for three fields each: OpenSearch takes 1024 clauses (max_clause_count)
RERANK_TOP_N: Final = 20  # ruling "Defaults"
RERANK_TOP_N_MAX: Final = 100
RERANK_SECONDS: Final = 5.0  # a cross-encoder takes some 50 ms a text on one core
CHUNKS_PER_FETCH: Final = 100  # of 10 KB each
BULK_MAX_BYTES: Final = 5 * 1024 * 1024  # OpenSearch's advice: 5 to 15 MB
QUERY_CACHE_SECONDS: Final = 3600  # S-04
QUERY_EMBEDDING_CACHE_SECONDS: Final = 24 * 3600  # S-04
EMBEDDING_CACHE_SECONDS: Final = 7 * 24 * 3600  # C-05
STAMPEDE_LOCK_SECONDS: Final = 30.0  # S-04
STAMPEDE_WAIT_SECONDS: Final = 3.0  # for another's answer, before one is made after all
STAMPEDE_POLL_SECONDS: Final = 0.05
CACHE_USES_HELD: Final = 25  # counted in the process before they are stored
DOCUMENT_TAGS_MAX: Final = 20  # a row of the index of tags each, in one DynamoDB transaction of 100
DOCUMENT_METADATA_BYTES: Final = 16 * 1024  # of JSON: a page of 100 documents has to fit an answer
REBUILD_PAGE: Final = 20  # documents of a tenant; what a claim that was lost does again
UPKEEP_PAGE: Final = 500  # documents, or versions in the index, that a pass looks at together
UPKEEP_MARGIN_SECONDS: Final = 60.0  # a pass stops when its function has less left
STRAY_SECONDS: Final = 3600  # a version that no row names is of a job no more
BODY_KEPT_SECONDS: Final = 24 * 3600  # … nor is a body that no document has
UPKEEP_FINDINGS: Final = 100  # named in the answer of a pass; all are logged
DOCUMENTS_PER_BATCH: Final = 50  # S-01
DOCUMENTS_PER_TRANSACTION: Final = 40  # two rows for each job, in one DynamoDB transaction of 100
DOWNLOAD_SECONDS: Final = 900  # a presigned address of a body
REBUILD_WORK_SECONDS: Final = 12 * 3600.0  # 100,000 chunks take an hour of embedding
DOCUMENT_MAX_BYTES: Final = 10 * 1024 * 1024  # T-06: an upload's
PDF_PAGES_MAX: Final = 2000  # some 10 ms each
DOCX_MAX_BYTES: Final = 100 * 1024 * 1024  # unpacked; ten times what comes in
DELETED_KEPT_SECONDS: Final = 30 * 24 * 3600  # P-14
WRITE_SHARDS: Final = 8  # of a tenant's generation and of a collection's count

AWS_CONNECT_SECONDS: Final = 1.0
AWS_READ_SECONDS: Final = 2.0  # DynamoDB, SQS and KMS answer within milliseconds
AWS_TRIES: Final = 2
AWS_CALL_SECONDS: Final = 7.0  # all tries, and a second between them (botocore, mode "standard")

CLOCK_SKEW_SECONDS: Final = 5.0  # what a process's clock may be ahead or behind
LEASE_MAX_SECONDS: Final = 300.0  # P-02
LEASE_MARGIN_SECONDS: Final = CLOCK_SKEW_SECONDS  # added to what the invocation has left
DEADLINE_MARGIN_SECONDS: Final = (  # a worker hands back when less is left: a write, a message
    AWS_CALL_SECONDS + AWS_CONNECT_SECONDS + AWS_READ_SECONDS
)
EFFECT_MARGIN_SECONDS: Final = 2 * CLOCK_SKEW_SECONDS  # one clock behind, another one ahead
JOB_MAX_ATTEMPTS: Final = 3  # P-01
BACKOFF_CAP_SECONDS: Final = 300.0  # ruling "Backoff"
OWN_FAULT_CAP_SECONDS: Final = 60.0  # ruling "Backoff"
OWN_FAULT_LIMIT_SECONDS: Final = 3600.0  # ruling "Backoff": an hour of waiting
OUTCOME_TRIES: Final = 20  # to write an outcome: over two minutes, lease and deadline permitting
OUTCOME_CAP_SECONDS: Final = 16.0  # … with full jitter between two of them
JOB_WAIT_MAX_SECONDS: Final = 24 * 3600.0  # for one attempt, whatever the remote side asks for
JOB_PENDING_SECONDS: Final = 7 * 24 * 3600.0  # crawls and deliveries: nothing waits for ever
JOB_PAYLOAD_BYTES: Final = 160 * 1024  # of JSON: a webhook's body and headers, all escapes, …
JOB_RESULT_BYTES: Final = 192 * 1024  # … and this beside it, below the 400 KB of DynamoDB's items
EXECUTION_START_SECONDS: Final = 120.0  # until the first step of an execution holds the claim
CHILD_SHARDS: Final = 12  # counters of one parent: all of them in one transaction of 100
CHILDREN_PER_SHARD: Final = 250
CHILDREN_PER_WRITE: Final = 20  # four rows each beside the parent's and the counters
CHILDREN_CHECK_SECONDS: Final = (
    60.0  # until the sweeper looks whether a parent's last end was missed
)
CHILDREN_CANCELLED_PER_REQUEST: Final = 100  # the sweeper cancels the others
CHILDREN_CANCELLED_PER_PASS: Final = 500
PLAN_ROW_BYTES: Final = 320 * 1024  # of JSON in one row, below the 400 KB of DynamoDB's items
PLAN_BYTES: Final = 3 * 1024 * 1024  # in one transaction of at most 4 MB
JOB_WORK_SECONDS: Final = 300.0  # ruling "Backoff": job_timeout, under claims of one run
REDRIVES: Final = 5  # ruling "Redrive": crawl, discovery
REDRIVE_FIRST_SECONDS: Final = 30.0
REDRIVE_CAP_SECONDS: Final = 300.0  # P-08
RESULT_FRESH_SECONDS: Final = 24 * 3600  # rulings "Duplicate" and P-05
JOB_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-14
EVENT_RETENTION_SECONDS: Final = 30 * 24 * 3600  # P-06
EVENT_MESSAGE_CHARS: Final = 1000
EVENT_DATA_BYTES: Final = (
    8 * 1024
)  # a hundred events stay under API Gateway's and DynamoDB's limits
EVENTS_PER_WRITE: Final = 90  # a DynamoDB transaction has 100 places, one for the row
EFFECT_RETENTION_SECONDS: Final = 90 * 24 * 3600  # longer than any job that could ask again
IDEMPOTENCY_SECONDS: Final = 24 * 3600  # P-05
RESEND_GRACE_SECONDS: Final = 30.0  # a pending job unclaimed for this long is sent again …
RESEND_CAP_SECONDS: Final = 3600.0  # … and where it may be queued, twice as long later each time
SQS_MAX_DELAY_SECONDS: Final = 900  # SQS: DelaySeconds
KEY_NAME_MAX_CHARS: Final = 100
KEYS_PER_TENANT: Final = 100  # active ones: one item of a few kilobytes lists them all
KEY_LIFETIME_MAX_SECONDS: Final = 10 * 365 * 24 * 3600  # a later end is as good as none
KEY_RETENTION_SECONDS: Final = 30 * 24 * 3600  # lists show a key for this long after its end
KEY_REQUESTS_PER_MINUTE: Final = 60  # T-01, default
KEY_REQUESTS_PER_MINUTE_MAX: Final = 6000  # a tenth of what one DynamoDB item takes in writes
RATE_WINDOW_SECONDS: Final = 60  # T-01: requests per minute
TICKET_SECONDS: Final = 900  # architecture, section 4: short-lived
LIST_LIMIT_DEFAULT: Final = 20
LIST_LIMIT_MAX: Final = 100  # BatchGetItem takes 100 keys
LIST_READ: Final = 200  # index rows per query of a list …
LIST_READS: Final = 5  # … and queries per page: filters look at a bounded number of rows
STREAM_SECONDS: Final = 5.0  # architecture, section 4: a long poll answers after this at the latest
STREAM_POLL_SECONDS: Final = 0.25
STREAM_RETRY_MS: Final = 1000
PUSH_SECONDS: Final = 1.0  # architecture, section 4: for all watchers of a job together
ENDING_SECONDS: Final = 10.0  # for all sockets of a key; API Gateway ends a request after 29 s
SUBSCRIBERS_PER_JOB: Final = 20
JOBS_PER_CONNECTION: Final = 20
CATCH_UP_PAGES: Final = 10  # of LIST_LIMIT_MAX events each; a longer timeline is read by its route
SOCKET_MESSAGE_BYTES: Final = 96 * 1024  # API Gateway: 128 KB, less the frame around the events
SOCKET_REQUEST_CHARS: Final = 4096
CONNECTION_SECONDS: Final = 3 * 3600  # API Gateway ends a connection after two hours
DEAD_LETTER_MOVES: Final = 3  # ruling "Redrive": a dead letter goes back this often …
DEAD_LETTERS_PER_PASS: Final = 100  # … and so many in one pass
DEAD_LETTER_HIDDEN_SECONDS: Final = 11 * 3600  # SQS: hidden for 12 h in all since it was received
LONG_WAIT_LEAD_SECONDS: Final = 840.0  # the message of a long wait is sent so early, delayed
LANE_BACKLOG_MESSAGES: Final = 10  # a lane with more visible messages gets no resends …
BACKLOG_RESEND_SECONDS: Final = 6 * 3600.0  # … but for jobs that have waited for so long
WAKE_SHARDS: Final = 8
RESEND_SHARDS: Final = 4  # for each kind and priority
SWEEP_PAGE: Final = 100  # jobs of a shard before the next shard is read
SWEEP_WAKES: Final = 4000  # jobs that a pass wakes at most; 3 calls each
SWEEP_RESENDS: Final = 500  # messages that a pass sends again to one lane at most; 3 calls each
SWEEP_WAKE_SECONDS: Final = 30.0  # of a pass, for waking; …
SWEEP_SECONDS: Final = 40.0  # … with resends; the time-out of its function is 50 s
SWEEP_REFUSALS: Final = 5  # so many calls in a row without an answer end a pass
OUTBOX_SHARDS: Final = 8  # as many as the jobs' index has
OUTBOX_PAGE: Final = 100  # events of a subject, or of a shard, that are read at once
OUTBOX_SUBJECTS: Final = 1000  # that a sweep of the outbox hands on at most; 5 calls each
OUTBOX_SWEEP_SECONDS: Final = 15.0  # of a sweep; its function is also the jobs' sweeper
OUTBOX_SUBJECT_SECONDS: Final = 5.0  # for the events of one subject; a later pass does the rest
OUTBOX_GRACE_SECONDS: Final = 30.0  # an event that its writer has not handed on by then is swept
OUTBOX_RETRY_FIRST_SECONDS: Final = 30.0  # a sink that failed is tried again after so long …
OUTBOX_RETRY_CAP_SECONDS: Final = 3600.0  # … then after twice as long each time, up to this …
OUTBOX_GIVE_UP_SECONDS: Final = 24 * 3600  # … for a day
OUTBOX_DATA_BYTES: Final = 63 * 1024  # of JSON: with what names it below WEBHOOK_BODY_MAX_BYTES
OUTBOX_KEPT_SECONDS: Final = 30 * 24 * 3600  # an event that is handed on, as a job's timeline
ROBOTS_SECONDS: Final = 10.0  # ruling "Robots": the whole fetch of a robots.txt
ROBOTS_MAX_REDIRECTS: Final = 5  # RFC 9309, section 2.3.1.2
ROBOTS_MAX_BYTES: Final = 500 * 1024  # RFC 9309, section 2.5: as much is read, the rest isn't
ROBOTS_LINE_MAX_BYTES: Final = 2083 * 8 - 1  # as google/robotstxt: eight times the longest URL
ROBOTS_SITEMAPS: Final = 100  # read from one robots.txt
ROBOTS_FRESH_SECONDS: Final = 24 * 3600  # ruling "Robots"; RFC 9309, section 2.4
ROBOTS_KEPT_SECONDS: Final = 7 * 24 * 3600  # ruling "Robots": a fallback for so long
ROBOTS_DISALLOW_SECONDS: Final = 300  # ruling "Robots": after a server error, and until a re-check

DOMAIN_RATE: Final = 1.0  # F-06: requests per second and host, default
DOMAIN_BURST: Final = 5  # F-06, default
BREAKER_FAILURES: Final = 5  # F-07, default
BREAKER_FAILURES_MAX: Final = (
    100  # at a request a second, a minute and a half of nothing but failures
)
BREAKER_OPEN_SECONDS: Final = 300.0  # F-07, default
BREAKER_MEMORY_SECONDS: Final = 3600.0  # ruling "Breaker"
RETRY_AFTER_MAX_SECONDS: Final = 3600.0  # a site may not stop us for longer by one answer
RESERVATION_HORIZON_SECONDS: Final = 3600.0  # a slot farther off isn't reserved
REDIRECTS_KEPT_SECONDS: Final = 6 * 3600  # of a fetch that waits: an hour at most for each host
SHORT_WAIT_SECONDS: Final = 1.0  # architecture, section 3: no worker sleeps longer
HOST_LEASE_SECONDS: Final = FETCH_TOTAL_SECONDS + 15.0  # … and twice a clock skew of 5 s, and 5 s
SESSION_LOCK_RETRIES: Final = 3  # F-04
SESSION_LOCK_FIRST_SECONDS: Final = 1.0  # F-04: 1, 2, 4 s …
SESSION_LOCK_JITTER_SECONDS: Final = 0.5  # … and up to this

DOMAIN_RATE_MIN: Final = 1 / 3600  # F-09: slower, and no slot could be reserved within an hour
DOMAIN_GAP_MAX_SECONDS: Final = 3600.0  # … for the same reason
DOMAIN_LABELS_MAX: Final = 32  # of a name with settings: one BatchGetItem reads all above a host
DOMAIN_NOTES_MAX_CHARS: Final = 1000
BLOCK_REASON_MAX_CHARS: Final = 500

PROXY_NAME_MAX_CHARS: Final = 100
PROXY_SERVERS_MAX: Final = 50  # F-08: a config stays below 50 KB of DynamoDB's 400
PROXY_CREDENTIAL_MAX_CHARS: Final = 255  # both, sealed: at most 2 KB of the 4 that KMS takes
PROXY_FAILURES: Final = 3  # F-08: in a row, and a server is left alone …
PROXY_MEMORY_SECONDS: Final = 3600.0  # … for so long; failures and uses older than it are forgotten
PROXY_TEST_SECONDS: Final = 15.0  # API Gateway ends a request after 29 s
PROXY_TEST_MAX_BYTES: Final = 1024 * 1024  # of a page by which a proxy is tried
SEALED_MAX_BYTES: Final = 4096  # KMS: Encrypt with a symmetric key

DELIVERY_ATTEMPTS: Final = 5  # P-10
WEBHOOK_ENDPOINTS_MAX: Final = 20  # per tenant: each may get every event
WEBHOOK_NAME_MAX_CHARS: Final = 100
WEBHOOK_EVENTS_MAX: Final = 50  # names and wildcards of one endpoint
WEBHOOK_EVENT_MAX_CHARS: Final = 100
WEBHOOK_SECRET_MAX_CHARS: Final = 100  # the longest that Standard Webhooks allows has 94
WEBHOOK_BODY_MAX_BYTES: Final = 64 * 1024  # Express, for one, takes 100 KB by default
WEBHOOK_SECONDS: Final = 15.0  # Standard Webhooks 1.0.0, "Operational considerations": 15 to 30 s
WEBHOOK_EXCERPT_BYTES: Final = 4096  # of an answer; enough for the 1000 characters of P-10
WEBHOOK_OLD_SECRET_SECONDS: Final = 24 * 3600.0  # a receiver has a day to learn the new one
WEBHOOK_COOLDOWN_FIRST_SECONDS: Final = (
    10.0  # no answer: all deliveries to the target wait so long …
)
WEBHOOK_COOLDOWN_CAP_SECONDS: Final = 300.0  # … twice as long each time, up to this
WEBHOOK_PERMIT_SECONDS: Final = WEBHOOK_SECONDS + 10.0  # one delivery tries whether it is back
WEBHOOK_WAIT_SECONDS: Final = 24 * 3600.0  # a delivery's attempts and waits together
WEBHOOK_LOG_PAYLOAD_BYTES: Final = 8 * 1024  # of each line: a page of 100 has to fit an answer
WEBHOOK_LOG_SECONDS: Final = 30 * 24 * 3600  # as long as the jobs, which hold the bodies

CRAWL_BATCH_PAGES: Final = 25  # C-06: taken together, in one DynamoDB transaction of at most 100
CRAWL_PAGES_MAX: Final = 1000  # C-06
CRAWL_DEPTH_MAX: Final = 100  # a chain of "next" links; three digits in the order of a crawl
DEEP_CRAWL_BATCH_SECONDS: Final = 300.0  # the claim while a batch is crawled; its pages extend it
DEEP_CRAWL_SLOT_SECONDS: Final = 120.0  # a place outlasts the next step by so much
DEEP_CRAWL_RETRY_SECONDS: Final = 15.0  # between two looks for a free place
CRAWL_SEEDS_MAX: Final = 100  # of 2 KB: they are in the crawl's own item
CRAWL_KEYWORDS_MAX: Final = 50
CRAWL_KEYWORD_MAX_CHARS: Final = 100
FRONTIER_URLS_MAX: Final = 50_000  # of a crawl: 1000 pages with 50 new links each; about 25 MB
FRONTIER_SECONDS: Final = 30 * 24 * 3600.0  # a crawl that lasts longer ends
FRONTIER_LINKS_PER_PAGE: Final = 5000  # the first ones in the page's order
FRONTIER_CHUNK_BYTES: Final = 300 * 1024  # of a page's links in one item of DynamoDB's 400 KB
FRONTIER_ROWS_PER_WRITE: Final = 90  # a DynamoDB transaction has 100 places, some for the rest
PAGE_ATTEMPTS: Final = 3  # P-01, for pages
URL_PATTERNS_MAX: Final = 50  # each, to include and to exclude
URL_PATTERN_MAX_CHARS: Final = 500
TRAP_SEGMENTS_MAX: Final = 20  # of a path; Heritrix's TooManyPathSegmentsDecideRule
TRAP_REPETITIONS_MAX: Final = 2  # in a row; Heritrix's PathologicalPathDecideRule
TRAP_PARAMETERS_MAX: Final = 20  # of a query
CALENDAR_YEARS_AHEAD: Final = 1
CALENDAR_YEARS_BACK: Final = 50
CALENDAR_URLS_MAX: Final = 100  # of one calendar: eight years by month
SITEMAP_MAX_BYTES: Final = 50 * 1024 * 1024  # sitemaps.org, protocol: uncompressed
SITEMAP_MAX_URLS: Final = 50_000  # sitemaps.org, protocol: of one file
SITEMAP_TOKEN_MAX_BYTES: Final = 1024 * 1024  # expat scans an unfinished token again each time
SITEMAP_XML_DEPTH_MAX: Final = 32  # elements inside each other; a feed has about six
SITEMAP_NESTING_MAX: Final = 5  # indexes of indexes; sitemaps.org allows none
SITEMAP_FILES_MAX: Final = 200  # read for one discovery
SITEMAP_PENDING_MAX: Final = 50_000  # known and not yet read: one full index
DISCOVERY_URLS_MAX: Final = 500  # C-07
CDX_LINE_MAX_BYTES: Final = 64 * 1024  # a URL and a dozen short fields
CDX_MAX_BYTES: Final = 50 * 1024 * 1024
CDX_CAPTURES_MAX: Final = 50_000
CRON_LINE_MAX_CHARS: Final = 100
CRON_YEARS_MAX: Final = 50  # croniter's default: what fires within none of them never does
