"""LocalStack's runtime executor: one instance per execution environment of a function version.

An invocation takes an idle process of its function version, or starts one. LocalStack's environment
has no process of its own: it would choose one whose process has ended while another one's is idle.
"""

import threading
import time
import uuid
from datetime import UTC, datetime
from typing import ClassVar

from localstack import config
from localstack.aws.api.lambda_ import (
    ServiceException,
    ThrottleReason,
    TooManyRequestsException,
)
from localstack.services.lambda_.invocation.lambda_models import (
    FunctionVersion,
    InvocationResult,
    S3Code,
)
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor

from spinneret_localstack.process_executor import environment, outcome
from spinneret_localstack.process_executor.archive_cache import FunctionFolders
from spinneret_localstack.process_executor.exchange import ReplyKind, Request
from spinneret_localstack.process_executor.host import LambdaHost
from spinneret_localstack.process_executor.outcome import Outcome
from spinneret_localstack.process_executor.runtime_process import ProcessSpec, RuntimeProcess
from spinneret_localstack.process_executor.warm_pool import PoolExhaustedError

# AWS throttles at once. Here short bursts wait: two cores start 32 processes in about 20 s.
CAPACITY_WAIT_SECONDS = 30.0


class UnsupportedFunctionError(Exception):
    """Raised for a function that can't run locally. LocalStack shows the message as its state."""


class ProcessRuntimeExecutor(RuntimeExecutor):
    host: ClassVar[LambdaHost]
    # By identity of the version object, which LocalStack passes unchanged from `prepare_version`
    # to `cleanup_version`; kept with it so that the identity is not given to another object.
    _prepared: ClassVar[dict[int, tuple[FunctionVersion, FunctionFolders]]] = {}

    def __init__(self, id: str, function_version: FunctionVersion) -> None:  # noqa: A002  # LocalStack passes it by this name
        super().__init__(id, function_version)
        self._variables: dict[str, str] = {}
        self._folders: FunctionFolders
        self._lock = threading.Lock()
        self._running: RuntimeProcess | None = None
        self._stopped = False

    # A function version

    @classmethod
    def prepare_version(cls, function_version: FunctionVersion) -> None:
        """Unpack code and layers of a version. Raises UnsupportedFunctionError."""
        function = function_version.config
        # LocalStack represents a zip file as S3Code; the others are images and live folders.
        given = [function.code, *(layer.code for layer in function.layers or [])]
        archives = [archive for archive in given if isinstance(archive, S3Code)]
        if len(archives) < len(given):
            raise UnsupportedFunctionError("only functions and layers packed as zip files can run")
        if function.runtime != cls.host.interpreter.runtime:
            raise UnsupportedFunctionError(
                f"runtime {function.runtime} is not here, only {cls.host.interpreter.runtime}"
            )
        folders = cls.host.archives.prepare(archives[0], archives[1:])
        cls._prepared[id(function_version)] = function_version, folders

    @classmethod
    def cleanup_version(cls, function_version: FunctionVersion) -> None:
        # LocalStack also calls this for versions whose preparation has failed.
        if cls._prepared.pop(id(function_version), None) is not None:
            cls.host.pool.discard(id(function_version))

    # An environment

    def start(self, env_vars: dict[str, str]) -> None:
        self._variables = env_vars
        _, self._folders = self._prepared[id(self.function_version)]

    def stop(self) -> None:
        """Stop the environment and a running invocation, as LocalStack's own executor does."""
        with self._lock:
            self._stopped = True
            running = self._running
        if running is not None:
            running.kill()

    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        deadline = time.monotonic() + CAPACITY_WAIT_SECONDS
        kind = id(self.function_version)
        try:
            process = self.host.pool.check_out(kind, CAPACITY_WAIT_SECONDS)
        except PoolExhaustedError as error:
            raise _throttled(f"Local Lambda environments: {error}.") from error
        try:
            with self._lock:
                self._running = process
            return self._run(process, payload, deadline)
        finally:
            with self._lock:
                process, self._running = self._running, None
            if process is not None and (self._stopped or not process.alive):
                process.close()
                process = None
            self.host.pool.check_in(kind, process)

    def get_logs(self) -> str:
        """Return no logs; LocalStack uses them only to warn about an invocation without logs."""
        return ""

    # Addresses

    def get_address(self) -> str:
        return "127.0.0.1"

    def get_endpoint_from_executor(self) -> str:
        return "127.0.0.1"

    def get_runtime_endpoint(self) -> str:
        """Return no endpoint; only LocalStack's init program would use it."""
        return ""

    # An invocation

    def _run(
        self, process: RuntimeProcess | None, payload: dict[str, str], deadline: float
    ) -> InvocationResult:
        request_id = payload["invoke-id"]
        logs = ""
        init_ms = None
        result = None
        if process is None or not process.alive:
            started = time.perf_counter()
            process, result = self._init(request_id, deadline)
            init_ms = _milliseconds_since(started)
            logs = process.take_log()
            if result is not None:
                logs += outcome.init_report(init_ms, result)
        logs += f"START RequestId: {request_id} Version: {self.function_version.id.qualifier}\n"
        started = time.perf_counter()
        if result is None:
            result = self._call(process, payload)
        duration_ms = _milliseconds_since(started)
        logs += _ended_line(process.take_log()) + result.log + f"END RequestId: {request_id}\n"
        memory_size, memory_used = (
            self.function_version.config.memory_size,
            process.peak_memory_mb(),
        )
        logs += outcome.report(request_id, duration_ms, memory_size, memory_used, init_ms, result)
        body = result.body
        if result.is_error:
            body = self._with_aws_paths(body.decode()).encode()
        return InvocationResult(request_id, body, result.is_error, self._with_aws_paths(logs))

    def _init(self, request_id: str, deadline: float) -> tuple[RuntimeProcess, Outcome | None]:
        """Start the process; return an outcome only if its init failed, which ends the process.

        An init that takes too long restarts as a part of the invocation, with the function's own
        time-out, as on AWS.
        """
        slots = self.host.init_slots
        if not slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _throttled("Too many local Lambda environments are starting.")
        seconds = float(self.function_version.config.timeout)
        try:
            for limit in (outcome.INIT_TIMEOUT_SECONDS, seconds):
                if self._running is not None:  # the first one, which took too long
                    self._running.close()
                process = self._start_process()
                if process.wait_until_ready(limit):
                    return process, None
                exit_code = process.exit_code
                process.kill()
                if process.init_error is not None or exit_code is not None:
                    break
        finally:
            slots.release()
        self._raise_if_stopped()
        if process.init_error is not None:
            return process, outcome.init_raised(process.init_error)
        if exit_code is not None:
            return process, outcome.exited(request_id, exit_code)
        now = datetime.now(UTC)
        return process, outcome.timed_out(request_id, seconds, now)

    def _start_process(self) -> RuntimeProcess:
        with self._lock:
            if not self._stopped:
                spec, host = self._process_spec(), self.host
                self._running = RuntimeProcess(spec, host.guard, host.zygotes.begin)
                return self._running
        self._raise_if_stopped()
        raise AssertionError("unreachable")

    def _process_spec(self) -> ProcessSpec:
        folders, interpreter = self._folders, self.host.interpreter
        # The name shows whose process it is: all forks of a zygote have the same environment.
        name = f"{self.function_version.id.function_name}-{uuid.uuid4().hex}"
        scratch = self.host.folder / "processes" / name
        temporary = scratch / "tmp"
        temporary.mkdir(parents=True)
        path = environment.search_path(self._variables, folders, interpreter)
        return ProcessSpec(
            interpreter=interpreter.executable,
            calls=self.host.calls,
            path=path,
            variables=environment.variables(
                self._variables,
                folders,
                interpreter,
                home=scratch,
                temporary=temporary,
                dynamodb_url=f"http://127.0.0.1:{config.DYNAMODB_LOCAL_PORT}",
            ),
            folder=folders.task_root,
            scratch=scratch,
        )

    def _call(self, process: RuntimeProcess, payload: dict[str, str]) -> Outcome:
        request_id = payload["invoke-id"]
        timeout = self.function_version.config.timeout
        reply = process.call(_request(payload, timeout), timeout)
        if reply is None:
            self._raise_if_stopped()
            exit_code = process.exit_code
            if exit_code is not None:
                return outcome.exited(request_id, exit_code)
            process.kill()
            return outcome.timed_out(request_id, timeout, datetime.now(UTC))
        if reply.kind is ReplyKind.ERROR:
            return outcome.raised(reply.body)
        limit = config.LAMBDA_LIMITS_MAX_FUNCTION_PAYLOAD_SIZE_BYTES
        return outcome.succeeded(reply.body, limit)

    def _with_aws_paths(self, text: str) -> str:
        """Replace local paths by those on AWS, for readers of stack traces."""
        folders = self._folders
        text = text.replace(str(folders.task_root), "/var/task").replace(str(folders.opt), "/opt")
        return text.replace(str(self.host.interpreter.packages), "/var/runtime")

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise ServiceException("The function was deleted or replaced during the invocation.")


def _request(payload: dict[str, str], timeout: int) -> Request:
    deadline_ms = int((time.time() + timeout) * 1000)
    headers = {
        "Lambda-Runtime-Aws-Request-Id": payload["invoke-id"],
        "Lambda-Runtime-Deadline-Ms": str(deadline_ms),
        "Lambda-Runtime-Invoked-Function-Arn": payload["invoked-function-arn"],
        "Lambda-Runtime-Trace-Id": payload["trace-id"],
    }
    return Request(payload["invoke-id"], headers, payload["payload"].encode())


def _throttled(message: str) -> TooManyRequestsException:
    return TooManyRequestsException(
        message, Reason=ThrottleReason.ConcurrentInvocationLimitExceeded, Type="User"
    )


def _ended_line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
