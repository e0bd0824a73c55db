#!/usr/bin/env bash
# The software GPU's interpreter against its compiled code, and PoCL's CPU device. Names of kernels as arguments select some.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet src/driver/libze_zescope.so.1 src/compiler/zescope-compiler bench/gpu_ze bench/gpu_cl bench/host_code
exec /usr/bin/python3 bench/compiled.py build/release "$@"
