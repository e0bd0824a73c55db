#!/usr/bin/env bash
# What program debugging costs kernels: the kernels of gpu.sh where it is not enabled, enabled, with
# a debugger attached, and with breakpoints that are not hit. Names of kernels as arguments select some.
set -eu
cd "$(dirname "$0")/.."
build=${BENCH_BUILD:-build/release}
ninja -C "$build" --quiet src/driver/libze_zescope.so.1 bench/gpu_ze bench/debug_attach
exec /usr/bin/python3 bench/debug.py "$build" "$@"
