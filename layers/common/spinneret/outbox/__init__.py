"""Domain events, stored with the change that they report and handed on afterwards.

A domain builds `models.DomainEvent`, declares its type in a module `event_types.py`, and adds
`dynamo.event_write` to the transaction of its change. After the commit it calls `relay.Relay`,
which hands the subject's events to the sinks in order; the sweeper does so for a writer that died.
"""
