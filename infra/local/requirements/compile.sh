#!/bin/sh
# Pins every requirement file with hashes. Run by hand after a change of an *.in file.
set -eu
cd "$(dirname "$0")"
root=../../..
uv=${UV:-$root/.venv/bin/uv}
pin() {
    name=$1
    shift
    "$uv" pip compile --quiet --generate-hashes --python-version 3.12 --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-header "$@" "$name.in" -o "$name.txt"
}

# The emulator and its companions work with the versions of the day they were released.
for name in localstack runtime sam; do pin $name --exclude-newer 2025-10-20; done
pin uv
pin dev --constraint uv.txt
pin $root/layers/embedder/requirements --no-deps --no-build --python-platform x86_64-manylinux2014
# The local embedder runs what the layer runs.
pin embedder --constraint $root/layers/embedder/requirements.txt
pin weights --no-deps --constraint $root/layers/embedder/requirements.txt
for name in websocket java maven node load; do pin $name; done
# The layers take the versions that the tests ran with.
for layer in core search content passwords browser; do
    pin $root/layers/$layer/requirements --constraint dev.txt
done
