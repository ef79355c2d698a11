"""The audit trail: who signed in, and what changed accounts."""
