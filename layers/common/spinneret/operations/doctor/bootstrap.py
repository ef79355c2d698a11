"""Command line of the examination, and the facts of a stage on AWS."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode

import boto3

from spinneret.access.tokens.dynamo import DynamoKeySetStore
from spinneret.access.tokens.models import KeySet
from spinneret.aws.clients import CONFIG, translate_all_errors
from spinneret.aws.http import INDEX_SERVICE, exchange, get
from spinneret.content.search.opensearch_mapping import PREFIX
from spinneret.kernel.clock import utc_now
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.doctor import limits
from spinneret.operations.doctor.models import (
    IndexFacts,
    QueueFacts,
    QuotaFacts,
    Readiness,
    RuleFacts,
    StackFacts,
)
from spinneret.operations.doctor.service import Doctor, exit_code, table

Clients = Callable[[str], Any]
"""Function that returns the client of a service."""
_NESTED: Final = "AWS::CloudFormation::Stack"
_QUEUE: Final = "AWS::SQS::Queue"
_RULE: Final = "AWS::Events::Rule"
_DOMAIN: Final = "AWS::OpenSearchService::Domain"


class AwsStage:
    """Implements StageFacts by CloudFormation, and by the services that its resources are of.

    `api_url` and `index_url` replace the addresses of AWS; `tables` is a client of DynamoDB that
    returns plain Python values.
    """

    def __init__(
        self,
        stack: str,
        clients: Clients,
        tables: Any,
        api_url: str | None = None,
        index_url: str | None = None,
    ) -> None:
        self._stack = stack
        self._client = clients
        self._tables = tables
        self._api_url = api_url
        self._index_url = index_url

    def stacks(self) -> Sequence[StackFacts]:
        nested = [each["PhysicalResourceId"] for each in self._of_type(_NESTED)]
        return [self._stack_facts(name) for name in (self._stack, *nested)]

    def queues(self) -> Sequence[QueueFacts]:
        return [self._queue(each) for each in self._of_type(_QUEUE)]

    def schedules(self) -> Sequence[RuleFacts]:
        return [self._rule(each) for each in self._of_type(_RULE)]

    def readiness(self) -> Readiness:
        url = self._api_url or self._outputs["ApiUrl"]
        status, body = exchange(f"{url}/health/ready", limits.READY_SECONDS, "api")
        try:
            checks = json.loads(body)["checks"]
        except (ValueError, KeyError, TypeError):
            raise DependencyUnavailable("api", f"answers {status}") from None
        return {name: each["status"] for name, each in checks.items()}

    def keys(self) -> KeySet:
        return DynamoKeySetStore(self._tables, self._outputs["TenancyTable"]).read()

    def index(self) -> IndexFacts:
        health = self._asked("_cluster/health")["status"]
        listed = self._asked(f"_alias/{PREFIX}-*-read")
        aliases = sorted({alias for each in listed.values() for alias in each["aliases"]})
        documents, chunks = self._indexed() if aliases else (0, 0)
        return IndexFacts(
            health=health,
            aliases=tuple(aliases),
            documents=documents,
            chunks=chunks,
            rows=self._rows(),
        )

    def quotas(self) -> QuotaFacts:
        with translate_all_errors("lambda"):
            account = self._client("lambda").get_account_settings()["AccountLimit"]
        with translate_all_errors("apigateway"):
            throttling = self._client("apigateway").get_account().get("throttleSettings", {})
        # without a dimension: of all functions of the account
        used = self._maxima("AWS/Lambda", "ConcurrentExecutions", timedelta(days=1), 3600)
        return QuotaFacts(
            concurrency=account["ConcurrentExecutions"],
            concurrency_used=int(max(used)) if used else None,
            api_rps=throttling.get("rateLimit"),
        )

    # ------------------------------------------------------------ Stacks

    @cached_property
    def _root(self) -> Mapping[str, Any]:
        return self._described(self._stack)

    @cached_property
    def _outputs(self) -> Mapping[str, str]:
        return {each["OutputKey"]: each["OutputValue"] for each in self._root.get("Outputs", [])}

    @cached_property
    def _resources(self) -> list[Mapping[str, Any]]:
        found = list(self._listed(self._stack))
        nested = [each for each in found if each["ResourceType"] == _NESTED]
        for each in nested:
            found += self._listed(each["PhysicalResourceId"])
        return found

    def _of_type(self, kind: str) -> list[Mapping[str, Any]]:
        return [each for each in self._resources if each["ResourceType"] == kind]

    def _described(self, name: str) -> Mapping[str, Any]:
        with translate_all_errors("cloudformation"):
            [stack] = self._client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        found: Mapping[str, Any] = stack
        return found

    def _listed(self, name: str) -> Iterator[Mapping[str, Any]]:
        with translate_all_errors("cloudformation"):
            pages = self._client("cloudformation").get_paginator("list_stack_resources")
            for page in pages.paginate(StackName=name):
                yield from page["StackResourceSummaries"]

    def _stack_facts(self, name: str) -> StackFacts:
        stack = self._root if name == self._stack else self._described(name)
        drift = stack.get("DriftInformation", {}).get("StackDriftStatus", "NOT_CHECKED")
        return StackFacts(
            name=stack["StackName"],
            status=stack["StackStatus"],
            drift=drift,
            updated_at=stack.get("LastUpdatedTime", stack["CreationTime"]).astimezone(UTC),
            resources=sum(1 for _ in self._listed(name)),
            release=self._outputs.get("Release", "") if stack is self._root else "",
        )

    # ------------------------------------------------------------ Queues and rules

    def _queue(self, resource: Mapping[str, Any]) -> QueueFacts:
        url = resource["PhysicalResourceId"]
        wanted = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        with translate_all_errors("sqs"):
            answer = self._client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=wanted)
        waiting, in_flight = (int(answer["Attributes"][name]) for name in wanted)
        name = url.rpartition("/")[2]
        dead = resource["LogicalResourceId"].endswith("Dlq")
        return QueueFacts(
            name=name,
            dead=dead,
            waiting=waiting,
            in_flight=in_flight,
            age=self._age(name) if waiting and not dead else None,
        )

    def _age(self, queue: str) -> float | None:
        last = timedelta(minutes=15)
        found = self._maxima("AWS/SQS", "ApproximateAgeOfOldestMessage", last, 60, QueueName=queue)
        return found[-1] if found else None

    def _maxima(
        self, namespace: str, metric: str, last: timedelta, period: int, **dimensions: str
    ) -> list[float]:
        """Return a metric's maximum of each period, in seconds, that has one; oldest first."""
        now = datetime.now(UTC)
        with translate_all_errors("cloudwatch"):
            answer = self._client("cloudwatch").get_metric_statistics(
                Namespace=namespace,
                MetricName=metric,
                Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
                StartTime=now - last,
                EndTime=now,
                Period=period,
                Statistics=["Maximum"],
            )
        points = sorted(answer["Datapoints"], key=lambda each: each["Timestamp"])
        return [float(each["Maximum"]) for each in points]

    def _rule(self, resource: Mapping[str, Any]) -> RuleFacts:
        bus, _, name = resource["PhysicalResourceId"].rpartition("|")
        given = {"Name": name, **({"EventBusName": bus} if bus else {})}
        client, enabled = self._client("events"), None
        with translate_all_errors("events"):
            try:
                enabled = client.describe_rule(**given)["State"] != "DISABLED"
            except client.exceptions.ResourceNotFoundException:
                enabled = None
        return RuleFacts(name=resource["LogicalResourceId"], enabled=enabled)

    # ------------------------------------------------------------ The index

    @cached_property
    def _index_address(self) -> tuple[str, str | None]:
        """Address of OpenSearch, and the service that requests are signed for."""
        if self._index_url is not None:
            return self._index_url, None
        [domain] = self._of_type(_DOMAIN)
        with translate_all_errors("opensearch"):
            answer = self._client("opensearch").describe_domain(
                DomainName=domain["PhysicalResourceId"]
            )
        return f"https://{answer['DomainStatus']['Endpoint']}", INDEX_SERVICE

    def _asked(self, path: str) -> Any:
        url, signed_for = self._index_address
        answer = get(f"{url}/{path}", limits.INDEX_SECONDS, "opensearch", signed_for=signed_for)
        return json.loads(answer)

    def _indexed(self) -> tuple[int, int]:
        body = {
            "size": 0,
            "track_total_hits": True,
            "query": {"term": {"deleted": False}},
            "aggs": {"documents": {"cardinality": {"field": "document_id"}}},
        }
        given = {"source": json.dumps(body), "source_content_type": "application/json"}
        answer = self._asked(f"{PREFIX}-*-read/_search?{urlencode(given)}")
        return answer["aggregations"]["documents"]["value"], answer["hits"]["total"]["value"]

    def _rows(self) -> int | None:
        """Return the number of undeleted documents, by the index that lists them."""
        request: dict[str, Any] = {
            "TableName": self._outputs["DocumentsTable"],
            "IndexName": "listed",
            "Select": "COUNT",
            "FilterExpression": "contains(list_key, :documents)",
            "ExpressionAttributeValues": {":documents": "#DOCUMENTS"},
        }
        found = 0
        for _ in range(limits.SCAN_PAGES):
            with translate_all_errors("dynamodb"):
                answer = self._tables.scan(**request)
            found += int(answer["Count"])
            if "LastEvaluatedKey" not in answer:
                return found
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return None


def report(stage: AwsStage, say: Callable[[str], object]) -> int:
    """Examine the stage, print the table; return the exit code."""
    findings = Doctor(facts=stage, clock=utc_now).examine()
    for line in table(findings):
        say(line)
    return exit_code(findings)


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code. Raise SystemExit(2) for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m spinneret.operations.doctor",
        description="Examine a stage; exit with 0, 1 for warnings, 2 for faults.",
    )
    parser.add_argument("--stage", required=True, help="the stack's parameter Stage")
    parser.add_argument("--stack", help="the stack's name (default: spinneret-STAGE)")
    given = parser.parse_args(arguments)

    def client(service: str) -> Any:
        return boto3.client(service, config=CONFIG)  # type: ignore[call-overload]  # any service

    tables = boto3.resource("dynamodb", config=CONFIG).meta.client
    stage = AwsStage(given.stack or f"spinneret-{given.stage}", client, tables)
    return report(stage, lambda line: sys.stdout.write(f"{line}\n"))
