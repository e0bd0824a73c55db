#!/usr/bin/env bash
# The model of time: microbenchmarks beside published figures; then the kernels of bench/gpu with and
# without it: CPU time of a launch that is replayed, of one that does what an earlier one did, and cycles
# of the sampled replay against those of the whole one.
set -eu
cd "$(dirname "$0")/.."
ninja -C build/release --quiet bench/timing_bench bench/gpu_direct
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for name in timing gpu; do
    tests/tools/ocloc compile -q -file "bench/$name/kernels.cl" -device skl -options -cl-std=CL2.0 \
        -output_no_suffix -output "$folder/$name.bin" > /dev/null
done
build/release/bench/timing_bench "$folder/timing.bin"
printf '\n| kernel | ms without | ms, replayed | ratio | ms, again | ratio | cycles sampled | cycles whole | |\n|---|---|---|---|---|---|---|---|---|\n'
for kernel in gemm_naive gemm_tiled nbody stencil reduction histogram mandelbrot saxpy black_scholes \
    integer_mix transpose; do
    /usr/bin/python3 - "$folder/gpu.bin" "$kernel" << 'EOF'
import json
import subprocess
import sys


def run(*options):
    out = subprocess.run(['build/release/bench/gpu_direct', *sys.argv[1:3], '20', '--instructions', '--cycles', *options], check=True,
                         stdout=subprocess.PIPE).stdout
    result = json.loads(out)
    return result['cpu_s'] / 20 * 1e3, result['instructions']


plain = timed = again = 1e9
for _ in range(5):
    plain = min(plain, run()[0])
    once, sampled = run('--timing', '--anew')
    timed = min(timed, once)
    again = min(again, run('--timing')[0])
whole = run('--timing', '--exact')[1]
print(f'| {sys.argv[2]} | {plain:.3f} | {timed:.3f} | {timed / plain:.2f} | {again:.3f} | {again / plain:.2f} | {sampled} | {whole} | '
      f'{100 * (sampled / whole - 1):+.1f} % |', flush=True)
EOF
done
