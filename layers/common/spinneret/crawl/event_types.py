"""Domain event types of crawls; `jobs.ends` writes them according to the kind's policy."""

from typing import Final

from spinneret.outbox.types import EventTypes

EVENT_TYPES: Final[EventTypes] = {
    "crawl.completed": "A crawl outside a batch has ended with a result.",
    "crawl.failed": "A crawl has failed for good.",
    "crawl.expired": "A crawl was not begun in time, or got no slot at its host in time.",
    "crawl_batch.completed": "All crawls of a batch have ended, and none failed.",
    "crawl_batch.partially_failed": "All crawls of a batch have ended, and some failed.",
    "crawl_batch.failed": "All crawls of a batch have failed.",
    "crawl_batch.expired": "A batch was not begun in time.",
    "crawl_file.completed": "All crawls of a file of URLs have ended, and none failed.",
    "crawl_file.partially_failed": "All crawls of a file of URLs have ended, and some failed.",
    "crawl_file.failed": "A file of URLs can't be read, or all its crawls have failed.",
    "crawl_file.expired": "A file of URLs was not begun in time.",
    "deep_crawl.completed": "A deep crawl has ended; some of its pages may have failed.",
    "deep_crawl.partially_failed": "A deep crawl ran out of time before its end.",
    "deep_crawl.failed": "A deep crawl has failed for good, or no page could be fetched.",
    "deep_crawl.expired": "A deep crawl was not begun in time.",
}
