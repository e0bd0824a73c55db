#!/usr/bin/env bash
# Disassembly and annotation of a module of 800 kernels, against Intel's and LLVM's tools.
# ZESCOPE names another executable than the release build's.
set -eu
cd "$(dirname "$0")/.."
bench/gen_module build/bench/module >&2
exec /usr/bin/python3 bench/disasm.py "${ZESCOPE:-build/release/src/cli/zescope}" build/bench/module
