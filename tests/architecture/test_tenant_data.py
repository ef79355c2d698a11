"""The deletion of a tenant covers every table and bucket of the templates (T-07)."""

from spinneret.operations.tenants.tables import TABLES
from spinneret.operations.tenants.wiring import BUCKETS
from tests.architecture.conftest import Templates


# covers T-07
def test_the_eraser_knows_every_table_and_bucket_of_the_templates(templates: Templates) -> None:
    assert set(templates.resources("AWS::DynamoDB::Table")) == set(TABLES)
    assert set(templates.resources("AWS::S3::Bucket")) == set(BUCKETS)


def test_the_eraser_is_given_the_table_and_bucket_that_it_declares(templates: Templates) -> None:
    given = templates.functions()["Tenants"]["Environment"]["Variables"]
    declared = {name: rows.variable.name for name, rows in TABLES.items()}
    declared |= {name: variable.name for name, variable in BUCKETS.items()}
    for name, variable in declared.items():
        stack, output = given[variable]["Fn::GetAtt"]
        file = templates.root["Resources"][stack]["Properties"]["TemplateURL"]
        outputs = templates.nested[file.removeprefix("infra/")]["Outputs"]
        assert outputs[output.removeprefix("Outputs.")]["Value"] == {"Ref": name}, variable


def test_a_table_has_a_sort_key_as_declared(templates: Templates) -> None:
    for name, table in templates.resources("AWS::DynamoDB::Table").items():
        keys = [each["AttributeName"] for each in table["Properties"]["KeySchema"]]
        assert keys == (["pk", "sk"] if TABLES[name].has_sort_key else ["pk"]), name
