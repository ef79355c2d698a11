"""Snapshots of the stores that LocalStack keeps in memory: S3, KMS, secrets, table definitions.

Each store is one pickle, replaced atomically. A change is on disk after about a second, and at
shutdown. A crash between a change and its snapshot loses the change; a snapshot is never half of
one. Rows are DynamoDB Local's own files, and bodies of objects are in `durable.bodies`.
"""

import logging
import os
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localstack import config
from localstack.aws.api import RequestContext
from localstack.aws.handlers import run_custom_response_handlers
from localstack.services.s3.models import s3_stores
from localstack.services.stores import LOCAL_ATTR_PREFIX, AccountRegionBundle

LOG = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
# A large store is saved less often, so that saving takes at most a tenth of the time.
SHARE = 10
# A store may change while it is pickled, which raises an error.
TRIES = 5
_INTERNAL = config.INTERNAL_RESOURCE_ACCOUNT
_READS = ("Get", "Head", "List", "Describe", "Encrypt", "Decrypt", "GenerateDataKey")


@dataclass(frozen=True)
class Store:
    """A store's plain value, and the way to put a former value back."""

    value: Callable[[], Any]
    restore: Callable[[Any], None]


class Snapshots:
    """Saves changed stores to a folder, and restores them at start."""

    def __init__(self, folder: Path, stores: Mapping[str, Store]) -> None:
        """`stores` are named by their service."""
        self._folder = folder
        self._stores = stores
        self._changed = {name: threading.Event() for name in stores}
        self._saving = threading.Lock()

    def restore(self) -> None:
        """Restore all saved stores."""
        for name, store in self._stores.items():
            file = self._file(name)
            if file.exists():
                store.restore(pickle.loads(file.read_bytes()))  # noqa: S301 - our own file

    def watch(self) -> None:
        """Notice requests that change a store, and save it soon after."""
        run_custom_response_handlers.append(self._notice)
        threading.Thread(target=self._save_forever, name="snapshots", daemon=True).start()

    def save_changed(self) -> None:
        """Save each store that has changed since its last snapshot."""
        with self._saving:
            for name, changed in self._changed.items():
                if changed.is_set():
                    # Before the value is read: a change meanwhile is saved the next time.
                    changed.clear()
                    if not self._save(name):
                        changed.set()

    def _notice(self, chain: Any, context: RequestContext, response: Any) -> None:
        del chain, response
        name = context.service.service_name if context.service is not None else ""
        operation = context.operation.name if context.operation is not None else ""
        if name in self._changed and not operation.startswith(_READS):
            self._changed[name].set()

    def _save_forever(self) -> None:
        pause = PAUSE_SECONDS
        while True:
            time.sleep(pause)
            begin = time.monotonic()
            try:
                self.save_changed()
            except Exception:
                # The thread must survive: a full disk may have room later.
                LOG.exception("A snapshot could not be saved")
            pause = max(PAUSE_SECONDS, SHARE * (time.monotonic() - begin))

    def _save(self, name: str) -> bool:
        for _ in range(TRIES):
            try:
                content = pickle.dumps(self._stores[name].value())
            except RuntimeError:  # a dictionary changed its size
                continue
            replace(self._file(name), content)
            return True
        return False

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.pickle"


def bundle_store(bundle: AccountRegionBundle[Any]) -> Store:
    """Return the store of a service of LocalStack's own."""

    def value() -> Any:
        return {
            "universal": bundle._universal,  # noqa: SLF001  # it has no public accessor
            "accounts": {
                account: (regions._global, {name: _local(each) for name, each in regions.items()})  # noqa: SLF001
                for account, regions in bundle.items()
            },
        }

    def restore(saved: Any) -> None:
        bundle._universal.update(saved["universal"])  # noqa: SLF001
        for account, (shared, regions) in saved["accounts"].items():
            bundle[account]._global.update(shared)  # noqa: SLF001
            for region, attributes in regions.items():
                vars(bundle[account][region]).update(attributes)

    return Store(value, restore)


def _local(store: Any) -> dict[str, Any]:
    return {name: each for name, each in vars(store).items() if name.startswith(LOCAL_ATTR_PREFIX)}


def objects_store() -> Store:
    """Return the store of S3 without LocalStack's own buckets, which hold the functions' code."""
    whole = bundle_store(s3_stores)

    def value() -> Any:
        saved = whole.value()
        buckets = saved["universal"].get("global_bucket_map", {}).items()
        own = {bucket: account for bucket, account in buckets if account != _INTERNAL}
        accounts = {name: each for name, each in saved["accounts"].items() if name != _INTERNAL}
        return {
            "universal": {**saved["universal"], "global_bucket_map": own},
            "accounts": accounts,
        }

    return Store(value, whole.restore)


def secrets_store() -> Store:
    """Return the store of Secrets Manager, which is moto's."""
    from moto.secretsmanager.models import secretsmanager_backends  # noqa: PLC0415  # slow import

    def value() -> Any:
        return {
            (account, region): dict(backend.secrets)
            for account, regions in secretsmanager_backends.items()
            for region, backend in regions.items()
        }

    def restore(saved: Any) -> None:
        for (account, region), secrets in saved.items():
            secretsmanager_backends[account][region].secrets.update(secrets)

    return Store(value, restore)


def replace(path: Path, content: bytes) -> None:
    """Replace a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
