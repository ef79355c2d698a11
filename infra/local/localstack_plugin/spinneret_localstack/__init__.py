"""LocalStack plug-in of the local stack: a Lambda executor without Docker, and patches.

Written against LocalStack 4.9.2 and its internals: the version is pinned, and `upstream` tells
which patched defects a LocalStack installation still has.
"""
