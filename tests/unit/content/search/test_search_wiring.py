"""Which embedder a stage has."""

from __future__ import annotations

import pytest

from spinneret.content.search.lambda_embedder import LambdaEmbedder
from spinneret.content.search.settings import EmbeddingSettings
from spinneret.content.search.tei import TeiEmbedder
from spinneret.content.search.wiring import embedder
from spinneret.kernel.settings import SettingsError


def settings(url: str, function: str) -> EmbeddingSettings:
    return EmbeddingSettings.from_env(
        {
            "OPENSEARCH_URL": "http://index",
            "OPENSEARCH_AUTH": "none",
            "EMBEDDER_URL": url,
            "EMBEDDER_FUNCTION": function,
        }
    )


def test_a_url_names_a_server() -> None:
    assert isinstance(embedder(settings("http://embedder", "")), TeiEmbedder)


def test_without_a_url_the_function_embeds() -> None:
    assert isinstance(embedder(settings("", "spinneret-Embedder")), LambdaEmbedder)


def test_a_stage_without_both_says_so() -> None:
    with pytest.raises(SettingsError, match="EMBEDDER_URL"):
        embedder(settings("", ""))
