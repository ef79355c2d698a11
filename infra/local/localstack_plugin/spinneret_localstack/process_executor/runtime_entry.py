"""First code of a function's process and of a zygote, run by the functions' own interpreter.

Usage: runtime_entry.py function|zygote CALLS FOLDER...

CALLS is the folder of recorded calls, or empty; the others are the head of the search path, see
environment.search_path.
"""

import os
import sys


def main() -> None:
    kind, calls, *folders = sys.argv[1:]
    del sys.argv[1:]
    import forks  # noqa: PLC0415  # of this file's folder, as the next one
    import recorded_calls  # noqa: PLC0415  # as above

    del sys.path[0]  # this file's folder
    if kind == "zygote" and not forks.serve(folders):
        return
    if calls:
        recorded_calls.install(calls)
    # The runtime is imported first, so that no file of a function or layer replaces its modules.
    # A fork imports it, too, since it reads the function's variables.
    from awslambdaric import bootstrap  # noqa: PLC0415  # not before the lines above

    sys.path[:0] = folders
    bootstrap.run(
        os.environ["LAMBDA_TASK_ROOT"], os.environ["_HANDLER"], os.environ["AWS_LAMBDA_RUNTIME_API"]
    )


if __name__ == "__main__":
    main()
