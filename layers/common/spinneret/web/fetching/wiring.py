"""Address policy of the stage."""

from typing import Final

from spinneret.aws.stage import Stage
from spinneret.kernel.settings import names, text
from spinneret.web.fetching.addresses import AddressPolicy

USER_AGENT: Final = text("USER_AGENT")
"""Name/version plus a contact URL; robots.txt is matched against the product token."""
FETCH_ALLOWED_ENDPOINTS: Final = names("FETCH_ALLOWED_ENDPOINTS", frozenset())
"""Exact `host:port` pairs; empty except for a stage that crawls its own machine."""
AWS_LAMBDA_RUNTIME_API: Final = text("AWS_LAMBDA_RUNTIME_API", "")
"""Set by Lambda; never reachable, even if allowed."""
ADDRESSES: Final = (FETCH_ALLOWED_ENDPOINTS, AWS_LAMBDA_RUNTIME_API)


def address_policy(stage: Stage) -> AddressPolicy:
    """Return the policy of this stage."""
    denied = {stage[AWS_LAMBDA_RUNTIME_API]} - {""}
    return AddressPolicy(allowed=stage[FETCH_ALLOWED_ENDPOINTS], denied=frozenset(denied))
