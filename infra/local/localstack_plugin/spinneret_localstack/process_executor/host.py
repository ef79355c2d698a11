"""Resources that all functions of a LocalStack share."""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spinneret_localstack.process_executor.archive_cache import ArchiveCache
from spinneret_localstack.process_executor.compilation import compile_missing
from spinneret_localstack.process_executor.interpreter import Interpreter
from spinneret_localstack.process_executor.process_guard import ProcessGuard
from spinneret_localstack.process_executor.runtime_process import RuntimeProcess
from spinneret_localstack.process_executor.warm_pool import SETTLE_SECONDS, WarmPool
from spinneret_localstack.process_executor.zygote import Zygotes
from spinneret_localstack.settings import Settings


@dataclass(frozen=True)
class LambdaHost:
    """Shared resources of all functions.

    `folder` holds all files of the executor but the archives, and is removed when LocalStack ends.
    """

    folder: Path
    interpreter: Interpreter
    archives: ArchiveCache
    pool: WarmPool[RuntimeProcess]
    init_slots: threading.BoundedSemaphore
    guard: ProcessGuard
    zygotes: Zygotes
    calls: str
    """Folder of recorded calls, or empty."""

    @classmethod
    def start(cls, settings: Settings) -> LambdaHost:
        """Start the host. Raises CalledProcessError when the interpreter can't run functions."""
        interpreter = Interpreter.probe(settings.python)
        folder = Path(tempfile.mkdtemp(prefix="spinneret-lambda-"))
        pool = WarmPool(
            settings.max_environments,
            RuntimeProcess.close,
            max_idle=settings.max_idle,
            idle_seconds=settings.idle_seconds,
        )
        guard = ProcessGuard(folder)
        zygotes = Zygotes(guard, settings.idle_seconds)
        threading.Thread(
            target=_end_expired, args=(pool, zygotes), name="lambda-idle-end", daemon=True
        ).start()
        return cls(
            folder=folder,
            interpreter=interpreter,
            archives=ArchiveCache(
                settings.archives, partial(compile_missing, interpreter.executable)
            ),
            pool=pool,
            init_slots=threading.BoundedSemaphore(settings.parallel_inits),
            guard=guard,
            zygotes=zygotes,
            calls=settings.calls,
        )


def _end_expired(pool: WarmPool[RuntimeProcess], zygotes: Zygotes) -> None:
    while True:
        time.sleep(SETTLE_SECONDS / 2)
        pool.end_expired()
        zygotes.end_idle()
