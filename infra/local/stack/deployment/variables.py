"""Environment variables of this project that aren't settings of the stage.

`deploy` refuses every other variable whose name begins with SPINNERET_ and names no setting.
"""

from typing import Final

from stack.ports import VARIABLES as _PORTS

PREFIX: Final = "SPINNERET_"
_INSTANCE: Final = ("LOCAL", "JAVA", "MVN", "STACK_PART")
_EMULATOR: Final = (
    *("LAMBDA_ARCHIVES", "LAMBDA_CALLS", "LAMBDA_IDLE_SECONDS", "LAMBDA_MAX_ENVIRONMENTS"),
    *("LAMBDA_MAX_IDLE", "LAMBDA_PARALLEL_INITS", "LAMBDA_PYTHON"),
    *("DURABLE", "HUNG_SERVICES", "KEPT_FOLDER"),
)
_CLIENT: Final = ("API_KEY", "CONFIG_HOME", "PROFILE", "URL", "WEBHOOK_SECRET", "WHEEL")
_TESTS: Final = (
    *("AUDIT_CRASH_STEP", "BATCH_KILLS", "BATCH_PAGES", "BENCHMARK_DATA", "BOTH_SIZES"),
    *("CHECKED_SECONDS", "CRAWL_CRASH_STEP"),
    *("CRASH_STEP", "DURABLE_DOCUMENTS", "EXAMPLES", "INBOX_LINES", "MONTH_TARGETS"),
    *("OUTAGE_SECONDS", "PACE_SEEDS", "PAIRS_STEP", "SAM_LOCAL", "STORIES_ON_MOTO"),
    *("TEST_INSTANCE", "TEST_PART", "TEST_PORTS", "TRAP_PAGES", "WEEK_HOURS", "WHOLE_MATRIX"),
)
OTHERS: Final = frozenset(
    {*_PORTS.values(), *(PREFIX + name for name in (*_INSTANCE, *_EMULATOR, *_CLIENT, *_TESTS))}
)
