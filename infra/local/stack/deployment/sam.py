"""The SAM command line, pointed at an instance."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from stack.containers import Engine
from stack.deployment.record import STACK_NAME
from stack.deployment.settings import EMBEDDER, SERVER
from stack.errors import InstallError
from stack.instance import Instance
from stack.locks import exclusive
from stack.tools.command import run
from stack.workspace import ACCOUNT, REGION, Workspace

# Ten times what a loaded machine with two cores was seen to take: they end a hang, no slow run.
VALIDATE_SECONDS: Final = 1_200.0
BUILD_SECONDS: Final = 3_000.0
# `sam deploy` waits without end for a stack that can't roll back.
DEPLOY_SECONDS: Final = 3_000.0
INVOKE_SECONDS: Final = 3_000.0  # with the download of an image of 600 MB
VARIABLES: Final = "sam-local-variables.json"  # of a function, beside the built template
IMAGE: Final = "public.ecr.aws/lambda/python:3.12-x86_64"  # as SAM names it for python3.12


class Sam:
    """Runs `sam` with a log of its own; raises InstallError with the log's end on failure."""

    def __init__(
        self,
        workspace: Workspace,
        instance: Instance,
        endpoints: Mapping[str, Any],
        embedder: str = SERVER,
    ) -> None:
        """`embedder` is what embeds (`settings.embedder`): a server leaves the layer of the
        function empty, whose build and archive take half a minute."""
        self._embedder = embedder
        self._workspace = workspace
        self._instance = instance
        self._endpoints = endpoints

    @property
    def built(self) -> Path:
        """The folder that `build` fills."""
        return self._instance.folder / "build"

    def validate(self) -> None:
        """Check all templates as SAM and cfn-lint do."""
        self._sam(["validate", "--lint", "--template", "template.yaml"], VALIDATE_SECONDS)

    def build(self) -> None:
        """Build functions and layers; what hasn't changed comes from a cache.

        One build at a time: they clear the cache of what changed, and the next ones find it full.
        """
        # A cached layer doesn't know what it was built for.
        cache = self._workspace.local / f"sam-cache-{self._embedder}"
        words = ["build", "--cached", "--cache-dir", str(cache), "--build-dir", str(self.built)]
        lock = self._workspace.locks / "sam-build.lock"
        with exclusive(lock, on_wait=lambda: None, timeout=2 * BUILD_SECONDS):
            self._sam(words, BUILD_SECONDS)
        translate_machines(self._workspace.root / "statemachines", self.built)

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
                "--no-confirm-changeset",
                "--disable-rollback",
                *("--parameter-overrides", *overrides),
            ],
            DEPLOY_SECONDS,
        )

    def invoke(self, template: Path, function: str, event: Path, engine: Engine) -> str:
        """Run a function in a container; its answer. The function's log goes to ours."""
        command = [
            *(self._endpoints["sam"], "local", "invoke", function),
            *("--template", str(template), "--event", str(event.absolute())),
            *("--env-vars", str(self.built / VARIABLES)),
            *(["--skip-pull-image"] if engine.has_image(IMAGE) else []),
            *self._config(),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                cwd=self._workspace.root,
                # One look-up of credentials costs seconds where it fails.
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

    def _config(self) -> list[str]:
        """samconfig.toml is for AWS: its settings must not reach the local stage."""
        settings = self._instance.folder / "samconfig.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("version = 0.1\n")
        return ["--config-file", str(settings)]

    def _sam(self, words: Sequence[str], seconds: float) -> None:
        run(
            [self._endpoints["sam"], *words, *self._config()],
            log=self._instance.log("deploy"),
            seconds=seconds,
            directory=self._workspace.root,
            environ=self._environment(),
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
            "SAM_CLI_TELEMETRY": "0",
            "SAM_CLI_POLL_DELAY": "1",
        }


def translate_machines(machines: Path, built: Path) -> None:
    """Have the built template name JSON where ours is YAML, which LocalStack doesn't read."""
    template = built / "template.yaml"
    text = template.read_text()
    for machine in sorted(machines.glob("*.asl.yaml")):
        target = built / machine.with_suffix(".json").name
        target.write_text(json.dumps(yaml.safe_load(machine.read_text()), indent=2))
        text = re.sub(
            rf"DefinitionUri: \S*{re.escape(machine.name)}", f"DefinitionUri: {target.name}", text
        )
    template.write_text(text)
