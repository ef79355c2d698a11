"""The worker factory: a Lambda handler that processes the messages of an SQS batch."""

import logging
import os
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.aws import tracing
from spinneret.aws.stage import Builder
from spinneret.jobs.sqs import ref_of
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import Remaining
from spinneret.runtime.logs import bind_request_id, configure
from spinneret.runtime.metrics import measured

logger = logging.getLogger(__name__)

QueueHandler = Callable[[dict[str, Any], LambdaContext], Any]


def worker_entrypoint(build: Builder[Worker], name: str) -> QueueHandler:
    """Return the Lambda handler of a lane of jobs.

    A message fails only if it can't be read or the store doesn't answer; every outcome of a job is
    written to the job.
    """
    return message_entrypoint(ref_of, build.then(lambda worker: worker.run), name)


def message_entrypoint[M](
    parse: Callable[[str], M],
    build: Builder[Callable[[M, Remaining], object]],
    name: str,
) -> QueueHandler:
    """Return the Lambda handler of a queue. Only failed messages of a batch return to the queue.

    `parse` raises ValueError for a body that isn't from this queue. The function that `build`
    returns takes the parsed message, and a function for the remaining seconds.
    """
    built: list[Callable[[M, Remaining], object]] = []

    def handler(event: dict[str, Any], context: LambdaContext) -> Any:
        if not built:
            configure(name)
            built.append(build.of(os.environ))
        run_message = built[0]
        bind_request_id(context.aws_request_id)
        own_trace = tracing.trace_header()

        def run(record: SQSRecord) -> None:
            tracing.follow(record.attributes.aws_trace_header or own_trace)
            try:
                message = parse(record.body)
            except ValueError:
                logger.exception("message_malformed", extra={"message_id": record.message_id})
                raise
            run_message(message, lambda: context.get_remaining_time_in_millis() / 1000)

        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        with measured(name):
            return process_partial_response(
                event=event, record_handler=run, processor=processor, context=context
            )

    return handler
