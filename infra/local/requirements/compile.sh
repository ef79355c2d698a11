#!/bin/sh
# Pins every requirement file with hashes. Run by hand after a change of an *.in file.
set -eu
cd "$(dirname "$0")"
root=../../..
uv=${UV:-$root/.venv/bin/uv}
pin() {
    name=$1
    shift
    "$uv" pip compile --quiet --generate-hashes --python-version 3.11 --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-header "$@" "$name.in" -o "$name.txt"
}

# The emulator and its companions work with the versions of the day they were released.
for name in localstack runtime sam; do pin $name --exclude-newer 2025-10-20; done
pin uv
pin dev --constraint uv.txt
for name in embedder websocket java maven; do pin $name; done
pin weights --no-deps
# The layers take the versions that the tests ran with.
for layer in core search content; do
    pin $root/layers/$layer/requirements --constraint dev.txt
done
