"""Conditions: an owner's requirements for a good response, in a small language.

    status == 200 and body contains "ready"
    json("queue.depth") < 100 or header("x-maintenance") == "planned"
    time < 800ms and certificate > 14d
    not (size < 1kb) and status in (200, 204)

`language.parse_conditions` parses them; `evaluation.failed` returns the first unmet one.
"""
