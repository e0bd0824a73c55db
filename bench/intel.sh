#!/usr/bin/env bash
# The same kernels on zescope's driver and on Intel's unmodified one, on an emulated node.
# DEVICES: skl tgllp dg2. Names of kernels as arguments select some.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet src/driver/libze_zescope.so.1 src/drm/libzescope_drm.so bench/gpu_ze
exec /usr/bin/python3 bench/intel.py build/release "$@"
