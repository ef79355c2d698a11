"""Domain events: stored with the change that they report, then relayed.

A domain builds `models.DomainEvent`, declares its type in a module `event_types.py`, and adds
`dynamo.event_write` to the transaction of its change. After the commit it calls `relay.Relay`,
which sends the subject's events to the sinks in order. If the writer died, the sweeper does so.
"""
