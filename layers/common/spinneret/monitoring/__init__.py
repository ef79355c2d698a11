"""Link monitoring: every target is checked on time, politely, and what is found is explained.

`targets` are what a tenant has watched; `due` finds those whose time has come and hands them to
workers; `slots` bound how many checks there are at once, in all and at one host; `checks` ask the
site; `conditions` are a tenant's own assertions; `incidents` say what an outcome means after those
before it; `rollups` are figures by hour and day; `windows` are maintenance; `status_page` is what
the public and Prometheus see; `imports` make many targets at once.
"""
