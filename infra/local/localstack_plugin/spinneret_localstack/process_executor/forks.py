"""The loop of a zygote, which imports libraries once and forks functions' processes.

A command is a line of JSON on standard input, and its answer one on standard output:

    {"start": {"variables": {…}, "folder": "…", "log": "…"}}  {"pid": 17}, or {"error": "…"}
    {"reap": 17}                                              {"code": -9}

Before a start it imports the libraries that the function's code names at its top. The function's
own code is read but not run: each environment runs it, as on AWS. The zygote ends with its input.
"""

import ast
import contextlib
import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def serve(folders: list[str]) -> bool:
    """Return True in a forked process, with its variables and folder; False at the end of input.

    Libraries are found in `folders`, then in the interpreter's own.
    """
    commands, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print isn't an answer
    own_path = list(sys.path)
    sys.path[:0] = folders
    known: set[Path] = set()
    for line in commands:
        name, given = next(iter(json.loads(line).items()))
        answer: dict[str, Any]
        if name == "reap":
            answer = {"code": os.waitstatus_to_exitcode(os.waitpid(given, 0)[1])}
        else:
            _import_libraries(Path(folders[0]), given["variables"]["_HANDLER"], known)
            pid = _fork()
            if pid == 0:
                answers.close()
                sys.path[:] = own_path
                _become(**given)
                return True
            answer = {"pid": pid} if pid else {"error": "a library runs threads"}
        answers.write(json.dumps(answer).encode() + b"\n")
    return False


def _fork() -> int | None:
    """Return the child's id when it leads a session of its own, 0 in the child, None if threads
    run, of which a fork would lack all but one."""
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208  # few modules are imported here
        return None
    gc.freeze()  # what is collected is written to, and then no longer shared
    led, leads = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(led)
        os.close(leads)
        return 0
    os.close(leads)
    os.read(led, 1)
    os.close(led)
    return pid


def _become(variables: dict[str, str], folder: str, log: str) -> None:
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    os.chdir(folder)
    _redirect(log)


def _redirect(log: str) -> None:
    """Read nothing, and write to a file, which standard output and error have in common."""
    for name, mode, numbers in (
        (os.devnull, os.O_RDONLY, (0,)),
        (log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, (1, 2)),
    ):
        opened = os.open(name, mode)
        for number in numbers:
            os.dup2(opened, number)
        os.close(opened)


def _import_libraries(task_root: Path, handler: str, known: set[Path]) -> None:
    """Import what the handler's module and the function's other modules import at their top."""
    waiting = [handler.rpartition(".")[0].replace("/", ".")]
    while waiting:
        for file in _files(task_root, waiting.pop()):
            if file in known:
                continue
            known.add(file)
            for statement in _imports(file):
                named = _named(statement)
                if any(_is_own(task_root, each) for each in named):
                    waiting += named
                else:
                    _import(statement)


def _import(statement: ast.stmt) -> None:
    code = compile(ast.Module([statement], []), "<import>", "exec")
    with contextlib.suppress(Exception, SystemExit):  # the function meets and reports it itself
        exec(code, {})  # noqa: S102  # an import statement


def _files(task_root: Path, module: str) -> list[Path]:
    path = task_root.joinpath(*module.split("."))
    return [each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()]


def _is_own(task_root: Path, module: str) -> bool:
    top = module.partition(".")[0]
    return (task_root / top).is_dir() or (task_root / f"{top}.py").exists()


def _imports(file: Path) -> Iterator[Any]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # the function reports it itself
        return
    for statement in tree.body:
        if isinstance(statement, ast.Import) or (
            isinstance(statement, ast.ImportFrom) and statement.level == 0
        ):
            yield statement


def _named(statement: Any) -> list[str]:
    """Return the modules that an import names for certain or perhaps."""
    names = [each.name for each in statement.names]
    if isinstance(statement, ast.Import):
        return names
    return [statement.module, *(f"{statement.module}.{each}" for each in names)]
