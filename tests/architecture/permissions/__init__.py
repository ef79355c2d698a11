"""Permissions of each function: granted by templates (`reading`), needed by areas (the others).

A module here names functions of its area in `NEEDED`, and in `CALLS` every call of an AWS client
that only its area makes. Both are found by pattern.
"""
