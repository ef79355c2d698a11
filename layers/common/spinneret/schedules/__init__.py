"""Run times of recurring work: cron lines with time zones, for sources, audits and maintenance.

    schedule = parse_schedule("0 */6 * * *", "Europe/Berlin")
    next_run(schedule, after)
    due(schedule, now, last)

All functions are pure: the current time is a parameter, and the caller stores the last run.
"""
