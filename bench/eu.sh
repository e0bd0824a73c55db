#!/usr/bin/env bash
# The interpreter alone: instructions per second.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet bench/eu_bench
build/release/bench/eu_bench
