#!/usr/bin/env bash
# Rewriting modules, and what probes cost kernels.
set -eu
cd "$(dirname "$0")/.."
work=build/bench-instrument
mkdir -p $work
ninja -C build/release --quiet bench/instrument_bench src/cli/zescope src/collect/libzescope_collect.so src/driver/libze_zescope.so.1 src/compiler/zescope-compiler
for group in arith flow data sync; do
    [ -f $work/$group.bin ] || ocloc compile -q -file tests/kernels/suite/$group.cl -device skl -options -cl-std=CL2.0 \
        -output_no_suffix -output $work/$group.bin >/dev/null
done
build/release/bench/instrument_bench $work/{arith,flow,data,sync}.bin
printf '\n'
[ -f $work/nbody.spv ] || ocloc compile -q -file examples/nbody/nbody.cl -device skl \
    -options "-I examples/nbody" -output_no_suffix -spv_only -output $work/nbody >/dev/null
for steps in 4 150; do
    sed "s/#define STEPS 4/#define STEPS $steps/" examples/nbody/nbody.c >$work/nbody$steps.c
    cc -O2 -Iinclude -Iexamples/nbody -o $work/nbody$steps $work/nbody$steps.c -lze_loader -lm
done
ZE_ENABLE_ALT_DRIVERS=$PWD/build/release/src/driver/libze_zescope.so.1 \
    bench/instrument.py build/release/src/cli/zescope $work/nbody4 $work/nbody150 $work/nbody.spv
