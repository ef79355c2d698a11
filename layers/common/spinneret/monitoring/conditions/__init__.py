"""Conditions: what an owner says of a good answer, in a small language.

    status == 200 and body contains "ready"
    json("queue.depth") < 100 or header("x-maintenance") == "planned"
    time < 800ms and certificate > 14d
    not (size < 1kb) and status in (200, 204)

`language.parse_conditions` reads them, `evaluation.failed` says which of them don't hold.
"""
