"""Installs, starts, watches and stops the local stack: `python -m stack <command>`."""
