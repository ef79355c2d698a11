"""Environment variables and search path of a function, as on AWS.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
"""

from collections.abc import Mapping
from pathlib import Path

from spinneret_localstack.process_executor.archive_cache import FunctionFolders
from spinneret_localstack.process_executor.interpreter import Interpreter

# Used by LocalStack's own init program, which this executor doesn't use.
LOCALSTACK_INTERNAL = frozenset(
    {
        "LOCALSTACK_FUNCTION_ACCOUNT_ID",
        "LOCALSTACK_INIT_LOG_LEVEL",
        "LOCALSTACK_MAX_PAYLOAD_SIZE",
        "LOCALSTACK_POST_INVOKE_WAIT_MS",
        "LOCALSTACK_RUNTIME_ENDPOINT",
        "LOCALSTACK_RUNTIME_ID",
        "LOCALSTACK_USER",
    }
)


def variables(
    from_localstack: Mapping[str, object],
    folders: FunctionFolders,
    interpreter: Interpreter,
    home: Path,
    temporary: Path,
    dynamodb_url: str,
) -> dict[str, str]:
    """Return all variables of the process; it inherits none from LocalStack.

    The SDK uses DynamoDB Local at `dynamodb_url` directly. LocalStack would only forward these
    calls, the most frequent ones, and spend more time on each than DynamoDB Local does.

    A function may override variables that AWS calls unreserved. HOME and TMPDIR are ours: they hide
    ~/.aws of the machine, and give each environment its own temporary files.
    """
    task_root, opt = folders.task_root, folders.opt
    unreserved = {
        "HOME": str(home),
        "LANG": "en_US.UTF-8",
        "LD_LIBRARY_PATH": f"{task_root}:{task_root}/lib:{opt}/lib",
        "PATH": f"{interpreter.executable.parent}:/usr/local/bin:/usr/bin:/bin:{opt}/bin",
        "PYTHONPATH": str(interpreter.packages),
        "TMPDIR": str(temporary),
    }
    given = {
        name: str(value)
        for name, value in from_localstack.items()
        if name not in LOCALSTACK_INTERNAL
    }
    reserved = {
        "AWS_ENDPOINT_URL_DYNAMODB": dynamodb_url,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{interpreter.runtime}",
        "LAMBDA_RUNTIME_DIR": str(interpreter.packages),
        "LAMBDA_TASK_ROOT": str(task_root),
        "TZ": ":UTC",
    }
    return unreserved | given | reserved


def search_path(
    from_localstack: Mapping[str, object], folders: FunctionFolders, interpreter: Interpreter
) -> list[str]:
    """Return the folders that AWS's Python bootstrap puts first in the search path.

    They precede the runtime's packages and the standard library. A function with its own PYTHONPATH
    gets no /opt folders; it must add them itself.
    """
    if "PYTHONPATH" in from_localstack:
        return [str(folders.task_root)]
    version = interpreter.runtime.removeprefix("python")
    return [
        str(folders.task_root),
        f"{folders.opt}/python/lib/python{version}/site-packages",
        f"{folders.opt}/python",
    ]
