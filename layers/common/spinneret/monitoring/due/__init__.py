"""Due targets: each minute a tick looks ahead and sends the checks of the next minute.

The tick reads a sharded index and sends each check as a message that arrives at the check's time.
A message holds checks of one host. It is a hint: a check is made only if the target's next check
isn't later than the message says. So a message that comes twice does nothing, and one that is lost
is sent again by a later tick.
"""
