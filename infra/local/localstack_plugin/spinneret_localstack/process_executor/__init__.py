"""Lambda functions as local processes.

- executor: interface to LocalStack: prepare a version, invoke, stop
- host: shared by all functions: cache, pool, guard, interpreter
- archive_cache: unpacked code and layers, one folder per content
- compilation: their compiled Python, made once
- warm_pool: the bounded set of live processes
- runtime_process: one process: start, exchange, log, end
- zygote: starts processes as forks of one that has imported their libraries
- exchange: requests and replies between the two sides of an invocation
- runtime_api: the Lambda Runtime API that this process uses
- process_guard: ends every process when LocalStack ends
- interpreter: the Python that runs the functions
- environment: a function's variables and search path
- outcome: answers and log lines with AWS's wording
- runtime_entry: first code of a function's process (runs outside LocalStack, as the next two)
- forks: a zygote's loop
- recorded_calls: which calls of AWS a function makes
"""
