#!/usr/bin/env bash
# What many allocations and contexts cost launches, and rows copies.
set -eu
cd "$(dirname "$0")/.."
build=${BENCH_BUILD:-build/release}
ninja -C "$build" --quiet src/driver/libze_zescope.so.1 bench/memory_bench
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo 'kernel void empty(void) {}' >"$tmp/empty.cl"
ocloc compile -q -file "$tmp/empty.cl" -device skl -output_no_suffix -output "$tmp/empty.bin"
ZE_ENABLE_ALT_DRIVERS=${BENCH_DRIVER:-$PWD/$build/src/driver/libze_zescope.so.1} ZESCOPE_LOG=error \
    "$build/bench/memory_bench" "$tmp/empty.bin"
