"""Import rules that no layer contract can state: which modules may import products or clients.

Both are found by pattern, so that the rules apply to a new domain without naming it here.
"""

import sys

import grimp
import pytest

from tests.architecture.conftest import ROOT

GROUPS = {
    *("kernel", "redaction", "aws", "runtime", "jobs", "access", "events", "web", "schedules"),
    *("content", "operations", "outbox"),
}
"""Packages that aren't products; every other one of `spinneret` is (docs/architecture.md)."""

CLIENTS = {"boto3", "botocore", "cdp_use", "h11", "httpx", "httpcore", "opensearchpy"}
ADAPTERS = {
    *("dynamo", "sqs", "s3", "kms", "opensearch", "tei", "sockets", "stepfunctions"),
    *("eventbridge", "lambda"),
    *("items", "wiring", "worker_wiring", "bootstrap"),
}
"""Names, or first words of the names, of files that may import a client."""
ENGINES = ("spinneret.web.fetching", "spinneret.web.browser")
"""The guarded fetcher and the browser, which are adapters of several files each."""


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    sys.path[:0] = [str(ROOT / "layers" / "common")]
    return grimp.build_graph("spinneret", include_external_packages=True, cache_dir=None)


# A source's run discovers URLs and crawls them.
BUILT_ON = {("sources", "crawl"), ("sources", "discovery")}


def _group(module: str) -> str:
    return module.split(".")[1]


def _is_product(module: str) -> bool:
    return module.startswith("spinneret.") and _group(module) not in GROUPS


def test_products_are_imported_by_themselves_and_by_operations_alone(
    imports: grimp.ImportGraph,
) -> None:
    crossing = [
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
        if _is_product(imported)
        and _group(module) not in {_group(imported), "operations"}
        and (_group(module), _group(imported)) not in BUILT_ON
    ]
    assert not crossing


# covers S-06
def test_only_adapters_know_clients_of_aws_http_and_the_index(imports: grimp.ImportGraph) -> None:
    knowing = [
        module
        for client in CLIENTS & imports.modules
        for module in imports.find_modules_that_directly_import(client)
        if not module.startswith(("spinneret.aws.", *ENGINES))
        and module.rpartition(".")[2].split("_")[0] not in ADAPTERS
        and module.rpartition(".")[2] not in ADAPTERS
    ]
    assert not knowing


def test_only_the_runtime_knows_powertools(imports: grimp.ImportGraph) -> None:
    users = imports.find_modules_that_directly_import("aws_lambda_powertools")
    assert {_group(module) for module in users} == {"runtime"}


# covers S-06
def test_only_wiring_and_adapters_choose_an_adapter(imports: grimp.ImportGraph) -> None:
    clients = {"dynamo", "sqs", "s3", "kms", "opensearch", "tei", "lambda", "sockets"}
    chosen = [
        (module, imported)
        for module in imports.modules
        if module.startswith("spinneret.")
        and module.rpartition(".")[2].split("_")[0] not in ADAPTERS
        and module.rpartition(".")[2] not in ADAPTERS
        and not module.endswith("_wiring")
        and _group(module) not in {"aws", "runtime"}
        for imported in imports.find_modules_directly_imported_by(module)
        if imported.startswith("spinneret.")
        and imported.rpartition(".")[2].split("_")[0] in clients
    ]
    assert not chosen
