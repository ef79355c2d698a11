"""What makes two requests under one Idempotency-Key the same (reliability, section 1)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.unit.runtime.api import SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused

Query = Mapping[str, list[str]]


def submit(api: Api, key: str, query: Query | None, *, single: bool = True) -> Answer:
    """A submission under the key `one`; `single` gives the query in its short form, too."""
    last = {name: values[-1] for name, values in query.items()} if query and single else None
    return api.send(
        SUBMIT,
        key,
        body={"url": "https://site.example/page"},
        headers={"Idempotency-Key": "one"},
        queryStringParameters=last,
        multiValueQueryStringParameters=query,
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, {}),
        ({"a": ["1"], "b": ["2"]}, {"b": ["2"], "a": ["1"]}),
        ({"a": ["1", "2"]}, {"a": ["1", "2"]}),
    ],
    ids=["none", "another order of names", "several values"],
)
def test_the_same_query_is_the_same_request(
    api: Api, key: str, first: Query | None, second: Query | None
) -> None:
    answer = submit(api, key, first)
    again = submit(api, key, second)
    assert (again.text, again.headers["Idempotent-Replayed"]) == (answer.text, "true")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, {"a": ["1"]}),
        ({"a": ["1"]}, {"a": ["2"]}),
        ({"a": ["1"]}, {"b": ["1"]}),
        ({"a": ["1"]}, {"A": ["1"]}),
        ({"a": ["1", "2"]}, {"a": ["2", "1"]}),
        ({"a": ["1", "2"]}, {"a": ["1,2"]}),
        ({"a": [""]}, None),
    ],
)
def test_another_query_is_another_request(
    api: Api, key: str, first: Query | None, second: Query | None
) -> None:
    submit(api, key, first)
    assert_refused(submit(api, key, second), 422, "IDEMPOTENCY_MISMATCH")
