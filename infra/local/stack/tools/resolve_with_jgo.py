"""Copy a pom's artifacts; runs in jgo's own environment with arguments POM TARGET REPOSITORY."""

import shutil
import sys
from pathlib import Path

from jgo.maven import POM, MavenContext  # type: ignore[import-not-found]  # only in jgo's own

DOWNLOAD_SECONDS = 60


def main(pom: Path, target: Path, repository: Path) -> None:
    context = MavenContext(repo_cache=repository, timeout=DOWNLOAD_SECONDS)
    _, nodes = context.pom_dependency_list(POM(pom))
    target.mkdir(parents=True, exist_ok=True)
    for node in nodes:
        if node.dep.scope in ("compile", "runtime") and not node.dep.optional:
            artifact = node.dep.artifact
            shutil.copy(artifact.resolve(), target / artifact.filename)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
