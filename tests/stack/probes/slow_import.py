"""A module that takes longer than Lambda's init phase may take."""

import time

time.sleep(60)
