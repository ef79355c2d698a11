"""The job kernel under a seeded scheduler that interleaves and delays calls, crashes processes, and
loses answers.
"""
