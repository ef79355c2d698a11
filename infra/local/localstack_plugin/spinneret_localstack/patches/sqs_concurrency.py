"""An SQS event source mapping processes up to MaximumConcurrency batches at once.

Upstream: services/lambda_/event_source_mapping. EsmWorker.start creates one thread, which receives,
invokes and deletes in turn; ScalingConfig is stored and never read. Without a batching window the
poller uses short polling, and pauses about a second after an empty response.
Effect: one slow message blocks its queue, and every message waits a second on average.

Here several threads share the poller. One thread at a time waits for messages by long polling; the
others work or wait for their turn. So an idle mapping costs one request per waiting time at any
concurrency, and a new message wakes its thread at once.
"""

import inspect
import logging
import threading
from typing import Any

from localstack import config
from localstack.services.lambda_.event_source_mapping import esm_worker, esm_worker_factory
from localstack.services.lambda_.event_source_mapping.esm_worker import EsmWorker
from localstack.services.lambda_.event_source_mapping.esm_worker_factory import EsmWorkerFactory
from localstack.services.lambda_.event_source_mapping.pollers import sqs_poller
from localstack.services.lambda_.event_source_mapping.pollers.poller import (
    EmptyPollResultsException,
)
from localstack.services.lambda_.event_source_mapping.pollers.sqs_poller import SqsPoller
from localstack.utils.backoff import ExponentialBackoff
from localstack.utils.patch import patch

LOG = logging.getLogger(__name__)

DEFAULT_CONCURRENCY = 2  # AWS's smallest MaximumConcurrency
# Also the longest time for which a deleted or disabled mapping continues to receive.
WAIT_SECONDS = 4
# Receiving returns at once when the queue is shut down; the pause avoids a busy loop.
PAUSE_AFTER_EMPTY_SECONDS = 0.02
FIRST_PAUSE_AFTER_ERROR_SECONDS = 2.0


def apply() -> None:
    @patch(EsmWorkerFactory.get_esm_worker)
    def get_esm_worker(original: Any, factory: EsmWorkerFactory) -> EsmWorker:
        worker: EsmWorker = original(factory)
        if isinstance(worker.poller, SqsPoller):
            scaling = factory.esm_config.get("ScalingConfig") or {}
            worker.poller = ConcurrentPoller(  # type: ignore[assignment]  # all that workers use
                worker.poller,
                scaling.get("MaximumConcurrency") or DEFAULT_CONCURRENCY,
                stopping=worker._shutdown_event,  # noqa: SLF001  # it has no public accessor
            )
        return worker


def is_needed() -> bool:
    return not any(
        "MaximumConcurrency" in inspect.getsource(module)
        for module in (esm_worker, esm_worker_factory, sqs_poller)
    )


class ConcurrentPoller:
    """Replaces the poller of an EsmWorker, which keeps the mapping's state.

    SqsPoller and its client keep no state between calls, so the threads may share them.
    """

    def __init__(self, poller: SqsPoller, concurrency: int, stopping: threading.Event) -> None:
        poller.source_client = _OneReceiver(poller.source_client, stopping)
        self._poller = poller
        self._concurrency = concurrency
        self._stopping = stopping

    def poll_events(self) -> None:
        """Poll until the mapping is stopped and the last batch is done."""
        threads = [
            threading.Thread(
                target=self._poll_until_stopped, name=f"sqs-mapping-{number}", daemon=True
            )
            for number in range(self._concurrency)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def close(self) -> None:
        self._poller.close()

    def _poll_until_stopped(self) -> None:
        backoff = ExponentialBackoff(  # type: ignore[call-arg]  # pydantic's defaults
            initial_interval=FIRST_PAUSE_AFTER_ERROR_SECONDS,
            max_interval=config.LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_ERROR_SEC,
        )
        while not self._stopping.is_set():
            try:
                self._poller.poll_events()
                backoff.reset()
            except EmptyPollResultsException:
                backoff.reset()
                self._stopping.wait(PAUSE_AFTER_EMPTY_SECONDS)
            except Exception:
                # Like upstream's loop: a mapping survives every error of its queue.
                LOG.exception("Polling %s failed", self._poller.source_arn)
                self._stopping.wait(backoff.next_backoff())


class _OneReceiver:
    """An SQS client on which one thread at a time waits for messages."""

    def __init__(self, client: Any, stopping: threading.Event) -> None:
        self._client = client
        self._stopping = stopping
        self._turn = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def receive_message(self, **parameters: Any) -> Any:
        with self._turn:
            if self._stopping.is_set():
                return {}
            return self._client.receive_message(**{**parameters, "WaitTimeSeconds": WAIT_SECONDS})
