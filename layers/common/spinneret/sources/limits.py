"""Bounds of sources, each with its source."""

from typing import Final

SOURCE_NAME_MAX_CHARS: Final = 100
SOURCES_PER_TENANT: Final = 500  # at one run an hour each: 250,000 pages an hour
SOURCE_LOOK_SECONDS: Final = 60.0  # between two checks of a current run: the rule's interval
SOURCE_SHARDS: Final = 4  # of the index by time; each yields SOURCES_PER_TICK per pass
SOURCES_PER_TICK: Final = 100
SOURCE_TICK_SECONDS: Final = 40.0  # of the rule's minute; the rest waits for the next pass
SOURCE_PAGES_MAX: Final = 500  # of one run: as many as a discovery finds, and one plan of a batch
SOURCE_PAGES_PER_ROW: Final = 100  # of 2 KB and a little: below the 400 KB of an item
SOURCE_RUN_SECONDS: Final = 400 * 24 * 3600  # a yearly source compares with the run before
