"""Deep crawls: pages found by following links, driven by a state machine over the frontier."""
