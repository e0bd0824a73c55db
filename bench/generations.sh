#!/usr/bin/env bash
# The speed of instructions of each generation. Names of kernels as arguments select some.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet bench/gpu_direct
exec /usr/bin/python3 bench/generations.py build/release "$@"
