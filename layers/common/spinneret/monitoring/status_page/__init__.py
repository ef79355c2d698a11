"""Public view of a tenant's targets: status page, badges, and Prometheus metrics.

A page exists only if the tenant has given it a slug; it shows only public targets.
"""
