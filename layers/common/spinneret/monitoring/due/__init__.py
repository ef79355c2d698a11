"""Due targets: each tick reads them from a sharded index and sends the oldest to workers first.

Every minute a rule sends that minute's ticks as delayed messages. A tick sends each worker a list
of targets to check before the next tick; the remaining targets stay due. So a missed tick delays
checks and never doubles them. In an overload, each tick sends the targets first that have waited
longest.
"""
