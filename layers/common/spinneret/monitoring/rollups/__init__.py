"""Figures of targets by hour and day: how long they were up, how fast they answered."""
