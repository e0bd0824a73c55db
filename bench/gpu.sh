#!/usr/bin/env bash
# The software GPU against Oclgrind and PoCL: the same kernels, sizes and data.
# Names of kernels as arguments select some.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet src/driver/libze_zescope.so.1 bench/gpu_ze bench/gpu_cl \
    bench/gpu_direct
exec /usr/bin/python3 bench/gpu.py build/release "$@"
