"""What each function may do: how templates say it (`reading`), what each area needs (the others).

A module here names functions of its area in `NEEDED`, and every call of an AWS client that its
area alone makes in `CALLS`. Both are found by pattern.
"""
