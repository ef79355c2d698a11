"""Report which patches a LocalStack installation still needs, as JSON {patch: bool}.

Run it with LocalStack's interpreter: python -m spinneret_localstack.upstream. It inspects
LocalStack's own objects, since the patches are applied only when LocalStack starts.
"""

import json
import sys

from spinneret_localstack.patches import PATCHES


def main() -> None:
    json.dump({name: patch.is_needed() for name, patch in PATCHES.items()}, sys.stdout)


if __name__ == "__main__":
    main()
