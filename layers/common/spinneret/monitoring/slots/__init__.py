"""Slots: exact limits on concurrent checks, in total and one per host.

A slot is a row with an owner, a fence and an expiry. Acquiring it increments the fence; if a worker
dies, its slot expires. A check ends before its slots expire, so no second check runs concurrently.

The state of a check's target names the slot's owner, so that writing a check's outcome also ends
its slot: a worker that finds the slot taken reads that state, and takes the slot of a check that
has ended.
"""
