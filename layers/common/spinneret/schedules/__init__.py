"""When recurring work is due: cron lines with time zones, for sources, audits and maintenance.

    schedule = parse_schedule("0 */6 * * *", "Europe/Berlin")
    next_run(schedule, after)
    due(schedule, now, last)

Pure: the present moment is a parameter, and what was last run is the caller's to remember.
"""
