"""Hooks that run when LocalStack starts, before its gateway listens.

An exception ends the start.
"""

# ruff: noqa: PLC0415  # LocalStack imports hook modules early, and the services take two seconds

import os
from pathlib import Path

from localstack import config
from localstack.runtime import hooks


@hooks.on_infra_start()
def apply_patches() -> None:
    from spinneret_localstack.patches import PATCHES

    for patch in PATCHES.values():
        patch.apply()


@hooks.on_infra_start()
def start_lambda_host() -> None:
    if config.LAMBDA_RUNTIME_EXECUTOR != "process":
        return
    from spinneret_localstack.process_executor.executor import ProcessRuntimeExecutor
    from spinneret_localstack.process_executor.host import LambdaHost
    from spinneret_localstack.settings import Settings

    ProcessRuntimeExecutor.host = LambdaHost.start(Settings.from_env(os.environ))


@hooks.on_infra_start()
def let_services_hang() -> None:
    from spinneret_localstack.hung_services import HungServices

    HungServices(Path(os.environ["SPINNERET_HUNG_SERVICES"])).install()


@hooks.on_infra_start()
def keep_durable_data() -> None:
    from spinneret_localstack import ending
    from spinneret_localstack.durable.installation import install

    snapshots = install(
        Path(os.environ["SPINNERET_KEPT_FOLDER"]), durable=os.environ["SPINNERET_DURABLE"] == "1"
    )
    ending.install(snapshots.save_changed if snapshots is not None else lambda: None)
