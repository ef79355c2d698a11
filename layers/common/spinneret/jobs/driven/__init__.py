"""Jobs that outlast one invocation: an execution of a state machine holds their claim.

A worker claims the job as usual, starts an execution named by job and fence, and passes the claim
to it (`starting.Starter`). Every step carries the claim, renews it up to its next due time, and
stops when a write is refused (`driving.Driver`). So an execution ends at its next step after its
job was cancelled, reclaimed from a dead execution, or continued in the next segment. A lost
execution is detected like a lost worker: its lease expires.
"""
