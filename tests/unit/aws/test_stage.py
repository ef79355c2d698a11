"""A stage has only the declared variables, and creates each client at its first use."""

import pytest

from spinneret.aws import clients
from spinneret.aws.stage import Builder, Stage, reads
from spinneret.kernel.settings import SettingsError, integer, text

TABLE, RETRIES = text("TABLE"), integer("RETRIES", 3)


@reads(TABLE, RETRIES)
def both(stage: Stage) -> tuple[str, int]:
    return stage[TABLE], stage[RETRIES]


def test_a_builder_gets_the_variables_that_it_declares() -> None:
    assert both.of({"TABLE": "jobs"}) == ("jobs", 3)
    assert both.then(lambda built: built[0]).of({"TABLE": "jobs"}) == "jobs"


def test_no_services_are_built_of_an_incomplete_environment() -> None:
    built: list[Stage] = []
    with pytest.raises(SettingsError, match="TABLE: not set; RETRIES: invalid"):
        Builder(built.append, both.reads).of({"RETRIES": "many"})
    assert built == []


def test_a_variable_that_is_not_declared_is_not_there() -> None:
    stage = Stage({"TABLE": "jobs", "OTHER": "x"}, [TABLE])
    with pytest.raises(KeyError, match="OTHER"):
        stage[text("OTHER")]


def test_a_client_is_made_at_its_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    monkeypatch.setattr(clients, "dynamodb_client", make)
    stage = Stage({}, [])
    assert made == []
    assert stage.dynamodb is stage.dynamodb is made[0]
    assert len(made) == 1


@pytest.mark.parametrize(
    ("style", "url"),
    [
        ("path", "https://s3.eu-west-1.amazonaws.com/bodies/k"),
        ("virtual", "https://bodies.s3.eu-west-1.amazonaws.com/k"),
    ],
)
def test_the_stage_names_the_form_of_a_bucket_s_url(
    style: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "eu-west-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    client = Stage({"S3_ADDRESSING_STYLE": style}, []).s3
    signed = client.generate_presigned_url("get_object", Params={"Bucket": "bodies", "Key": "k"})
    assert signed.partition("?")[0] == url
