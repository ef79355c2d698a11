"""First code of a function's process, run by the functions' own interpreter.

Usage: runtime_entry.py CALLS FOLDER...

CALLS is the folder of recorded calls, or empty; the others are the head of the search path, see
environment.search_path.
"""

import os
import sys


def main() -> None:
    if calls := sys.argv.pop(1):
        import recorded_calls  # noqa: PLC0415  # of this file's folder

        recorded_calls.install(calls)
    # The runtime is imported first, so that no file of a function or layer replaces its modules.
    del sys.path[0]  # this file's folder
    from awslambdaric import bootstrap  # noqa: PLC0415  # not before the line above

    sys.path[:0] = sys.argv[1:]
    del sys.argv[1:]
    bootstrap.run(
        os.environ["LAMBDA_TASK_ROOT"], os.environ["_HANDLER"], os.environ["AWS_LAMBDA_RUNTIME_API"]
    )


if __name__ == "__main__":
    main()
