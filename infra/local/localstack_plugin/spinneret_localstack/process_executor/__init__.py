"""Lambda functions as processes of this machine.

- executor: what LocalStack calls: prepare a version, invoke, stop
- host: what all functions share: cache, pool, guard, interpreter
- archive_cache: unpacked code and layers, one folder per content
- warm_pool: the bounded set of live processes
- runtime_process: one process: start, exchange, log, end
- exchange: what the two sides of an invocation hand each other
- runtime_api: the Lambda Runtime API that this process talks to
- process_guard: ends every process when LocalStack ends
- interpreter: the Python that runs the functions
- environment: a function's variables and search path
- outcome: answers and log lines as AWS words them
- runtime_entry: first code of a function's process (runs outside LocalStack)
"""
