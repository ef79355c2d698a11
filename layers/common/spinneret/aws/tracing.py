"""The trace of an invocation: one id from a request to the work and webhooks that follow from it.

Lambda sets the variable before each invocation. boto3 sends it with each call, and each log line
has its id (`xray_trace_id`). A function that continues another one's work replaces it.
"""

import os
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from types_boto3_sqs.type_defs import MessageSystemAttributeValueTypeDef as Attribute

VARIABLE: Final = "_X_AMZN_TRACE_ID"
MESSAGE_ATTRIBUTE: Final = "AWSTraceHeader"
"""System attribute of a message: the only one that a sender may set."""
STATE_KEY: Final = "trace"
"""Field of an execution's state: the header's only way to steps without active tracing."""
_FIELDS: Final = ("Root", "Parent", "Sampled")


def trace_header() -> str:
    """Return the current trace as an X-Ray header, or an empty text outside of Lambda.

    It has no lineage, by which Lambda counts how often a function causes its own invocation. A job
    that waits for a host does that, as often as it has to (see RecursiveLoop in template.yaml).
    """
    return header_of(os.environ.get(VARIABLE, ""))


def message_attributes() -> "dict[Literal['AWSTraceHeader'], Attribute]":
    """Return the system attributes of a message that this invocation sends."""
    return attribute_of(trace_header())


def attribute_of(header: str) -> "dict[Literal['AWSTraceHeader'], Attribute]":
    """Return the system attributes of a message of a trace; none for an empty header."""
    return {MESSAGE_ATTRIBUTE: {"DataType": "String", "StringValue": header}} if header else {}


def follow(header: str | None) -> None:
    """Continue the trace of a message or state until the end of the invocation."""
    if header and (usable := header_of(header)):
        os.environ[VARIABLE] = usable


def header_of(text: str) -> str:
    """Return the known fields of a header; empty if it names no trace."""
    given = dict(part.partition("=")[::2] for part in text.split(";"))
    if not given.get("Root"):
        return ""
    return ";".join(f"{name}={given[name]}" for name in _FIELDS if given.get(name))
