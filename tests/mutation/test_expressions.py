"""Conditions without one of their parts: valid for DynamoDB, and changed in that part only."""

from __future__ import annotations

import itertools
import re
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from tests.mutation.expressions import weakened, weakenings

LETTERS = "abcd"
ROWS = [dict(zip(LETTERS, row, strict=True)) for row in itertools.product((False, True), repeat=4)]


def joined(word: str) -> Any:
    return lambda parts: f" {word} ".join(f"({part})" if " " in part else part for part in parts)


CONDITIONS = st.recursive(
    st.sampled_from(LETTERS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(joined("AND")),
        st.lists(inner, min_size=2, max_size=3).map(joined("OR")),
        inner.map(lambda part: f"NOT ({part})"),
    ),
    max_leaves=6,
)


def holds(expression: str, row: dict[str, bool]) -> bool:
    return bool(eval(re.sub("AND|OR|NOT", lambda word: word[0].lower(), expression), {}, row))


@pytest.mark.parametrize(
    ("expression", "dropped"),
    [
        ("attribute_not_exists(#pk)", ["attribute_not_exists(#pk)"]),
        ("#status = :is_status", ["status"]),
        ("#a = :is_a AND #b <= :now", ["whole", "a", "#b <= :now"]),
        ("#a = :x OR #b = :y", ["whole", "#a = :x", "#b = :y"]),
        (
            "#a = :x AND (attribute_not_exists(#b) OR #b > :y)",
            [
                "whole",
                "#a = :x",
                "attribute_not_exists(#b) OR #b > :y",
                "attribute_not_exists(#b)",
                "#b > :y",
            ],
        ),
        (
            "#a = :x AND #b = :y OR #c = :z",
            ["whole", "#a = :x AND #b = :y", "#a = :x", "#b = :y", "#c = :z"],
        ),
        (
            "#a BETWEEN :x AND :y AND #b IN (:x, :y)",
            ["whole", "#a BETWEEN :x AND :y", "#b IN (:x, :y)"],
        ),
        ("NOT (#a = :x AND #b = :y)", ["whole", "#a = :x", "#b = :y"]),
        ("NOT #a = :x AND contains(#b, :y)", ["whole", "NOT #a = :x", "contains(#b, :y)"]),
        ("(#a = :x)", ["#a = :x"]),
    ],
)
def test_every_part_is_taken_out_once(expression: str, dropped: list[str]) -> None:
    assert [each.dropped for each in weakenings(expression)] == dropped


@pytest.mark.parametrize("text", ["", "#a = :x AND", "OR #a = :x", "(#a = :x", "#a = :x)"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a condition"):
        weakenings(text)


@given(CONDITIONS)
def test_without_the_whole_a_condition_always_holds(expression: str) -> None:
    whole = weakenings(expression)[0].expression
    assert all(holds(whole, row) for row in ROWS)


@given(CONDITIONS)
def test_without_a_term_a_conjunction_is_that_of_the_others(expression: str) -> None:
    both = f"({expression}) AND d"
    without = [each.expression for each in weakenings(both)]
    assert all(holds(without[1], row) is row["d"] for row in ROWS)
    assert all(holds(without[-1], row) is holds(expression, row) for row in ROWS)


@given(CONDITIONS, st.sampled_from(["({})", "NOT ({})"]))
def test_without_a_branch_a_disjunction_is_that_of_the_others(expression: str, form: str) -> None:
    branch = form.format(expression)
    without = [each.expression for each in weakenings(f"{branch} OR d")]
    assert all(holds(without[1], row) is row["d"] for row in ROWS)
    assert all(holds(without[-1], row) is holds(branch, row) for row in ROWS)


@given(CONDITIONS)
def test_all_names_stay_so_that_no_value_is_left_unused(expression: str) -> None:
    names = set(re.findall("[a-d]", expression))
    for each in weakenings(expression):
        assert set(re.findall("[a-d]", each.expression)) == names


@pytest.mark.parametrize(
    ("expression", "held"),
    [
        ("attribute_not_exists(#pk)", [True]),
        ("#a = :one AND #b = :one", [True, False, True]),
        ("#b = :two AND (attribute_not_exists(#c) OR #b < :one)", [True, True, True, False, True]),
        ("NOT (#a = :one AND #b = :two)", [True, False, False]),
        ("#a BETWEEN :one AND :two AND #b IN (:one)", [True, False, True]),
    ],
)
def test_dynamodb_takes_every_weakened_condition(
    expression: str, held: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the item a = 1, b = 2."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        table = boto3.resource(
            "dynamodb",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            region_name="us-east-1",
        ).create_table(
            TableName="t",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        assert [_holds(table, each.expression) for each in weakenings(expression)] == held


def _holds(table: Any, expression: str) -> bool:
    used = {":one": 1, ":two": 2}
    values = {name: value for name, value in used.items() if name in expression}
    table.put_item(Item={"pk": "x", "a": 1, "b": 2})
    try:
        table.put_item(
            Item={"pk": "x"},
            ConditionExpression=expression,
            ExpressionAttributeNames={f"#{n}": n for n in re.findall(r"#(\w+)", expression)},
            **({"ExpressionAttributeValues": values} if values else {}),
        )
    except table.meta.client.exceptions.ConditionalCheckFailedException:
        return False
    return True


def test_an_expression_a_condition_and_a_write_are_weakened_alike() -> None:
    text, values = "#a = :x", {":x": 1}
    without = weakenings(text)[0].expression
    write = {"Put": {"TableName": "t", "ConditionExpression": text}}
    assert weakened(text, 0, 1) == without
    assert weakened((text, values), 0, 1) == (without, values)
    assert weakened(write, 0, None) == {"Put": {"TableName": "t", "ConditionExpression": without}}
    assert weakened(("", {}), 0, None) == ("", {})
