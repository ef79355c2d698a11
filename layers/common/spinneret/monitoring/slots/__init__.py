"""Slots: so many checks at once in all, and one at each host, exactly.

A slot is a row with an owner, a fence and an end. Whoever takes it raises the fence; a worker that
dies loses it with time. A check ends before its slots do, so there is never a second one beside it.
"""
