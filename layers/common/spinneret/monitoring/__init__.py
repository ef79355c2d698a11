"""Link monitoring: check every target on time and politely, and explain what was found.

`targets` holds the URLs that a tenant monitors. `due` finds targets whose check is due and sends
them to workers. `slots` bounds the concurrent checks, in total and per host. `checks` requests the
site. `conditions` are a tenant's own assertions. `incidents` derives a target's status from a
series of outcomes. `rollups` are figures by hour and day. `windows` are maintenance windows.
`status_page` serves the public and Prometheus. `imports` creates many targets at once.
"""
