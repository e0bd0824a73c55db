#!/usr/bin/env bash
# Systolic multiplications of the interpreter beside the host's own instructions.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet bench/dpas_bench
build/release/bench/dpas_bench
