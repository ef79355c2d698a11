"""The operator's command line for tenants, with a function that answers from a script."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import pytest

from spinneret.access.tenants import bootstrap

DONE = {"progress": "done", "text": "acme is suspended", "report": {}}


class ScriptedFunction:
    """A Lambda client whose only function answers from a script."""

    def __init__(self, answers: Sequence[Mapping[str, Any]]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.asked.append({"function": FunctionName, **json.loads(Payload)})
        answer = dict(self.answers.pop(0))
        failed = {"FunctionError": "Unhandled"} if "errorMessage" in answer else {}
        return {"Payload": BytesIO(json.dumps(answer).encode()), **failed}


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.limits, "TENANT_COMMAND_WAIT_SECONDS", 0.0)


def command(monkeypatch: pytest.MonkeyPatch, words: str, *answers: Mapping[str, Any]) -> Any:
    """Run the command; return its exit code, and the function with its recorded calls."""
    function = ScriptedFunction(answers)
    monkeypatch.setattr(bootstrap, "lambda_client", lambda _: function)
    return bootstrap.main(words.split()), function


def test_a_command_is_sent_to_the_function_of_the_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, function = command(monkeypatch, "--stage prod suspend acme --reason unpaid", DONE)
    asked = {"verb": "suspend", "tenant": "acme", "reason": "unpaid"}
    assert (code, function.asked) == (0, [{"function": "spinneret-tenants-prod", **asked}])
    assert capsys.readouterr() == ("", "acme is suspended\n")


def test_a_deletion_is_repeated_until_it_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = {"progress": "waiting", "text": "waits", "report": {}}
    working = {"progress": "working", "text": "pass 1", "report": {}}
    done = {"progress": "done", "text": "deleted", "report": {"removed": {"Jobs": 3}}}
    words = "--stage prod delete acme --confirm acme"
    code, function = command(monkeypatch, words, waiting, waiting, working, done)
    assert (code, len(function.asked)) == (0, 4)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"removed": {"Jobs": 3}}
    assert err == "waits\npass 1\ndeleted\n"


def test_an_export_continues_the_one_that_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    working = {"progress": "working", "text": "1 line", "report": {"export_id": "export_1"}}
    done = {"progress": "done", "text": "2 lines", "report": {"export_id": "export_1"}}
    code, function = command(monkeypatch, "--stage prod export acme", working, done)
    assert code == 0
    assert [each.get("export_id") for each in function.asked] == [None, "export_1"]


@pytest.mark.parametrize(
    "answer",
    [
        {"progress": "refused", "text": "no such tenant", "report": {}},
        {"errorMessage": "no such tenant"},
    ],
)
def test_a_refusal_is_said_and_fails(
    answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = command(monkeypatch, "--stage prod resume acme", answer)
    assert code == 1
    assert "no such tenant" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "",
        "create acme",
        "--stage prod",
        "--stage prod destroy acme",
        "--stage prod suspend acme",
        "--stage prod delete acme",
        "--stage prod delete acme --confirm acne",
    ],
)
def test_a_wrong_command_line_asks_the_function_nothing(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = ScriptedFunction([])
    monkeypatch.setattr(bootstrap, "lambda_client", lambda _: function)
    try:
        code: Any = bootstrap.main(words.split())
    except SystemExit as leave:
        code = leave.code
    assert (code, function.asked) == (2, [])
