"""What others see of a tenant's targets: a page and badges for everybody, figures for Prometheus.

A page is there only where a tenant has given it a slug, and shows only targets that are public.
"""
