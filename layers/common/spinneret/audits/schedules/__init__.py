"""Audits at set times: a schedule, and the pass that submits what is due."""
