"""What functions that hold the job kernel read from their environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.jobs.models import Lane
from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class JobSettings(Settings):
    """Tables, lanes, and the `@connections` endpoint of the WebSocket API."""

    jobs_table: str
    idempotency_table: str
    websocket_url: str
    crawl_high_queue_url: str
    crawl_normal_queue_url: str
    crawl_low_queue_url: str
    delivery_queue_url: str

    @property
    def lanes(self) -> Mapping[Lane, str]:
        """The queue of every lane."""
        return {
            Lane.CRAWL_HIGH: self.crawl_high_queue_url,
            Lane.CRAWL_NORMAL: self.crawl_normal_queue_url,
            Lane.CRAWL_LOW: self.crawl_low_queue_url,
            Lane.DELIVERY: self.delivery_queue_url,
        }


@dataclass(frozen=True, kw_only=True)
class RedriveSettings(JobSettings):
    """The lanes' dead-letter queues besides."""

    crawl_high_dlq_url: str
    crawl_normal_dlq_url: str
    crawl_low_dlq_url: str
    delivery_dlq_url: str

    @property
    def dead_letters(self) -> Mapping[Lane, str]:
        """The dead-letter queue of every lane."""
        return {
            Lane.CRAWL_HIGH: self.crawl_high_dlq_url,
            Lane.CRAWL_NORMAL: self.crawl_normal_dlq_url,
            Lane.CRAWL_LOW: self.crawl_low_dlq_url,
            Lane.DELIVERY: self.delivery_dlq_url,
        }
