"""A module whose import takes longer than Lambda's init phase allows."""

import time

time.sleep(60)
