"""Jobs that outlast one invocation: an execution of a state machine holds their claim.

A worker claims the job as usual, starts an execution named by job and fence, and leaves the claim
to it (`starting.Starter`). Every step carries the claim, renews it up to its next due time, and
stops when a write is refused (`driving.Driver`). So a cancelled job, a job that was reclaimed from
a dead execution, and one that went on to its next segment all end the former execution at its next
step, and a lost execution is found as every lost worker is: by its lease.
"""
