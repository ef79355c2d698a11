"""The embedder and the reranker of a stage."""

import pytest

from search.search_routes import router
from spinneret.aws.stage import Stage
from spinneret.content.search.lambda_embedder import LambdaEmbedder
from spinneret.content.search.tei import TeiEmbedder
from spinneret.content.search.variables import SEARCHING
from spinneret.content.search.wiring import embedder, search_api
from spinneret.kernel.settings import SettingsError
from tests.unit.served import Served


def stage(url: str, function: str) -> Stage:
    env = {
        "OPENSEARCH_URL": "http://index",
        "OPENSEARCH_AUTH": "none",
        "EMBEDDER_URL": url,
        "EMBEDDER_FUNCTION": function,
    }
    return Stage(env, SEARCHING)


def test_a_url_names_a_server() -> None:
    assert isinstance(embedder(stage("http://embedder", "")), TeiEmbedder)


def test_without_a_url_the_function_embeds() -> None:
    assert isinstance(embedder(stage("", "spinneret-Embedder")), LambdaEmbedder)


def test_a_stage_without_both_says_so() -> None:
    with pytest.raises(SettingsError, match="EMBEDDER_URL"):
        embedder(stage("", ""))


@pytest.mark.parametrize(
    ("enabled", "url"), [("false", "http://reranker.example"), ("true", ""), ("false", "")]
)
def test_a_stage_without_a_reranker_or_with_it_disabled_answers_404(
    monkeypatch: pytest.MonkeyPatch, enabled: str, url: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "test")
    names = ("CACHES_TABLE", "DOCUMENTS_TABLE", "JOBS_TABLE", "LABELS_TABLE", "EMBEDDER_FUNCTION")
    env = {
        "OPENSEARCH_URL": "http://index.example",
        "OPENSEARCH_AUTH": "none",
        "EMBEDDER_URL": "",
        "RERANKER_URL": url,
        "FEATURES__ENABLE_RERANKER": enabled,
        **dict.fromkeys(names, "spinneret-x"),
    }
    api = Served(router, search_api.of(env))
    refused = api.send("POST", "/api/v1/search", {"query": "silk", "use_reranker": True})
    assert (refused.status, refused.body["code"]) == (404, "FEATURE_DISABLED")
