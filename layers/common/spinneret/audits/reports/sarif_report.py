"""SARIF 2.1.0 report (OASIS standard, 27 March 2020) for code scanning."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.audits.checks.catalogue import catalogue, ranked
from spinneret.audits.checks.models import Check
from spinneret.audits.findings import Finding
from spinneret.audits.reports.models import LEVELS, PRODUCT, ReportContent
from spinneret.kernel.canonical import json_text

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render(report: ReportContent) -> Iterator[str]:
    """Yield one run, with a result for each check and page at the page's URL."""
    checks = ranked(catalogue())
    driver = {
        "name": f"{PRODUCT} audits",
        "version": report.result.catalogue_version,
        "rules": [_rule(check) for check in checks],
    }
    invocation = {"executionSuccessful": True, "endTimeUtc": _utc(report.result.audited_at)}
    yield f'{{"$schema":{json.dumps(SCHEMA)},"version":"2.1.0","runs":[{{'
    yield f'"tool":{json_text({"driver": driver})},"invocations":{json_text([invocation])},'
    yield f'"properties":{json_text({"score": report.result.score.total})},"results":['
    separator = "\n"
    for number, check in enumerate(checks):
        for finding in report.findings.of(check.id):
            yield separator + json_text(_result(report, finding, check, number))
            separator = ",\n"
    yield "]}]}\n"


def _rule(check: Check[Any]) -> dict[str, Any]:
    return {
        "id": check.id,
        "shortDescription": {"text": f"{check.title}."},
        "help": {"text": check.advice},
        "helpUri": check.source,
        "defaultConfiguration": {"level": LEVELS[check.severity]},
        "properties": {
            "category": check.category,
            "severity": check.severity,
            "weight": check.weight,
        },
    }


def _result(
    report: ReportContent, finding: Finding, check: Check[Any], number: int
) -> dict[str, Any]:
    said = "; ".join(" ".join(part for part in each if part) for each in finding.evidence)
    result: dict[str, Any] = {
        "ruleId": check.id,
        "ruleIndex": number,
        "level": LEVELS[check.severity],
        "message": {"text": f"{check.title}: {said}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": finding.url}}}],
        "partialFingerprints": {"checkAndUrl/v1": _fingerprint(finding)},
        "properties": {"count": finding.count},
    }
    state = report.state(finding.key)
    if state:
        result["baselineState"] = "new" if state == "new" else "unchanged"
    return result


def _fingerprint(finding: Finding) -> str:
    return hashlib.sha256("\n".join(finding.key).encode()).hexdigest()[:32]


def _utc(moment: str) -> str:
    """Return the time with a `Z`, as section 3.9 requires."""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
