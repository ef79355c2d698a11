"""LocalStack plug-in of the local stack: a Lambda executor without Docker, and patches.

It relies on internals of LocalStack 4.9.2, so the version is pinned. `upstream` reports which
patched defects a LocalStack installation still has.
"""
