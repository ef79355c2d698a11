"""A single service of LocalStack can be suspended; tests of outages rely on that."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from tests.conftest import Aws, Stack
from tests.e2e.stopping import stopped

pytestmark = pytest.mark.stack

CALM_SECONDS = 1.0


def test_a_stopped_service_answers_nothing_until_it_goes_on(stack: Stack, aws: Aws) -> None:
    sqs, name = aws("sqs"), f"hung-{uuid4().hex}"
    with ThreadPoolExecutor(1) as threads:
        with stopped(stack, "sqs"):
            asked = threads.submit(sqs.create_queue, QueueName=name)
            aws("s3").list_buckets()
            time.sleep(CALM_SECONDS)
            assert not asked.done()
        url = asked.result(CALM_SECONDS)["QueueUrl"]
    sqs.delete_queue(QueueUrl=url)
