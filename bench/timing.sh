#!/usr/bin/env bash
# The model of time: microbenchmarks beside published figures. What launches cost with it: accuracy.sh.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet bench/timing_bench
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tests/tools/ocloc compile -q -file bench/timing/kernels.cl -device skl -options -cl-std=CL2.0 \
    -output_no_suffix -output "$folder/timing.bin" > /dev/null
build/release/bench/timing_bench "$folder/timing.bin"
