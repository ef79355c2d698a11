"""The SAM command line, configured for an instance."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from stack.containers import Engine
from stack.deployment import built
from stack.deployment.record import STACK_NAME
from stack.deployment.settings import EMBEDDER, SERVER
from stack.deployment.sources import Sources, digest_of
from stack.errors import InstallError
from stack.files import write_json
from stack.instance import Instance
from stack.locks import exclusive
from stack.tools.command import run
from stack.tools.npm import with_npm
from stack.tools.store import Store
from stack.workspace import ACCOUNT, REGION, Workspace

# Ten times the duration on a loaded machine with two cores: they end a hang, not a slow run.
VALIDATE_SECONDS: Final = 1_200.0
BUILD_SECONDS: Final = 3_000.0
# `sam deploy` waits forever for a stack that can't roll back.
DEPLOY_SECONDS: Final = 3_000.0
INVOKE_SECONDS: Final = 3_000.0  # includes the download of an image of 600 MB
VARIABLES: Final = "sam-local-variables.json"  # of a function, in the folder of the built template
IMAGE: Final = "public.ecr.aws/lambda/python:3.12-x86_64"  # name that SAM uses for python3.12


class Sam:
    """Runs `sam` with logs of its own. Methods raise InstallError with the end of the log."""

    def __init__(
        self,
        workspace: Workspace,
        instance: Instance,
        endpoints: Mapping[str, Any],
        embedder: str = SERVER,
    ) -> None:
        """`embedder` is the result of `settings.embedder`.

        With a server, the layer of the embedder function stays empty, which saves half a minute of
        building and archiving.
        """
        self._embedder = embedder
        self._workspace = workspace
        self._instance = instance
        self._endpoints = endpoints

    @property
    def built(self) -> Path:
        """Folder that `build` fills."""
        return self._instance.folder / "build"

    def validate(self) -> None:
        """Check all templates with SAM and cfn-lint, unless the same ones were valid before."""
        words = ["validate", "--lint", "--template", "template.yaml"]
        progress = self._workspace.progress
        with (
            progress.step("validating the templates", "validated"),
            _unless_done(self._workspace.local / "validated", self._digest("templates")) as needed,
        ):
            if needed:
                self._sam(words, VALIDATE_SECONDS, "validate")

    def build(self) -> None:
        """Fill the build folder: layers by SAM unless they are there, code, templates.

        Unchanged layers come from a cache. Code and templates change often and need no build:
        `sam build` would copy the folder of the functions for each of them.
        """
        sources = Sources(self._workspace.root)
        # The record disappears with the build folder.
        with _unless_done(self.built / "inputs", self._digest("layers")) as needed:
            if needed:
                self._build_layers(sources)
        built.write(sources, self.built)

    def _build_layers(self, sources: Sources) -> None:
        """Let SAM build the layers.

        Only one build runs at a time: it removes outdated entries from the cache, and the next
        build finds the cache full.
        """
        shutil.rmtree(self.built, ignore_errors=True)
        template = self._instance.folder / "layers.json"
        write_json(template, built.layers_template(sources))
        # A cached layer doesn't record its embedder, so each has its own cache.
        cache = self._workspace.local / f"sam-cache-{self._embedder}"
        lock = self._workspace.locks / "sam-build.lock"
        with exclusive(lock, on_wait=lambda: None, timeout=2 * BUILD_SECONDS):
            self._sam(
                [
                    *("build", "--cached", "--cache-dir", str(cache)),
                    *("--template", str(template), "--base-dir", str(sources.root)),
                    *("--build-dir", str(self.built / built.LAYERS)),
                ],
                BUILD_SECONDS,
            )
        built.archive_layers(self.built)

    def _digest(self, kind: Literal["templates", "layers"]) -> str:
        """Return the hash of the files that a step reads, of its program and of its options."""
        sources = Sources(self._workspace.root)
        facts = [self._endpoints["sam"], self._embedder, sys.version, Path(__file__).read_text()]
        if kind == "templates":
            return digest_of(sources.templates(), sources.root, facts)
        facts += [json.dumps(built.layers_template(sources)), Path(built.__file__).read_text()]
        return digest_of(sources.layers(), sources.root, facts)

    def deploy(self, bucket: str, parameters: Mapping[str, str]) -> None:
        """Create the stack through CloudFormation."""
        overrides = [f"{name}={value}" for name, value in parameters.items() if value]
        self._sam(
            [
                "deploy",
                *("--template-file", str(self.built / "template.yaml")),
                *("--stack-name", STACK_NAME),
                *("--s3-bucket", bucket),
                *("--capabilities", "CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"),
                "--use-json",
                "--no-confirm-changeset",
                "--disable-rollback",
                *("--parameter-overrides", *overrides),
            ],
            DEPLOY_SECONDS,
        )

    def invoke(self, template: Path, function: str, event: Path, engine: Engine) -> str:
        """Run a function in a container and return its answer.

        Its log goes to our standard error.
        """
        command = [
            *(self._endpoints["sam"], "local", "invoke", function),
            *("--template", str(template), "--event", str(event.absolute())),
            *("--env-vars", str(self.built / VARIABLES)),
            *(["--skip-pull-image"] if engine.has_image(IMAGE) else []),
            *self._config("invoke"),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                cwd=self._workspace.root,
                # One failing lookup of credentials takes seconds.
                env={**self._environment(), "AWS_MAX_ATTEMPTS": "1"},
                text=True,
                timeout=INVOKE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError(
                f"sam local invoke did not end within {INVOKE_SECONDS:.0f} s"
            ) from error
        if done.returncode != 0:
            raise InstallError(f"sam local invoke ended with {done.returncode}")
        return done.stdout.strip()

    def _config(self, name: str) -> list[str]:
        """Return options for an empty config, since samconfig.toml is only for AWS."""
        settings = self._instance.folder / f"samconfig-{name}.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("version = 0.1\n")
        return ["--config-file", str(settings)]

    def _sam(self, words: Sequence[str], seconds: float, log: str = "deploy") -> None:
        run(
            [self._endpoints["sam"], *words, *self._config(log)],
            log=self._instance.log(log),
            seconds=seconds,
            directory=self._workspace.root,
            environ=with_npm(Store(self._workspace), self._environment()),
        )

    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("AWS_", "PYTHON", "SAM_"))
        }
        return {
            **kept,
            "PATH": path,  # the development environment's Python builds the layers
            "AWS_ENDPOINT_URL": self._endpoints["gateway"],
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_EC2_METADATA_DISABLED": "true",
            EMBEDDER: self._embedder,
            "CHROMIUM": "none",  # functions here use the tool store's, see chromium_tool
            "SAM_CLI_TELEMETRY": "0",
            "SAM_CLI_POLL_DELAY": "3",
        }


@contextmanager
def _unless_done(record: Path, digest: str) -> Iterator[bool]:
    """Return whether a step is needed; record its inputs when it has succeeded."""
    needed = not record.exists() or record.read_text() != digest
    if needed:
        record.unlink(missing_ok=True)
    yield needed
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(digest)
