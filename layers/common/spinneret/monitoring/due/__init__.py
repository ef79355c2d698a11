"""Due targets: found by every tick in a sharded index, and handed to workers, longest waiting
first.

A rule sends the ticks of a minute as delayed messages. A tick gives each worker a list of targets
to work off until the next tick; what is left stays due. So a missed tick delays checks and never
doubles them, and in an overload those that wait longest come first at every tick.
"""
