#!/usr/bin/env bash
# SPIR-V to machine code in the driver: a first build, one from memory, one from files, and sixteen
# threads at once, against the command ocloc. ZESCOPE_BUILD names another build folder.
set -eu
cd "$(dirname "$0")/.."
build=${ZESCOPE_BUILD:-build/release}
ninja -C "$build" --quiet bench/build_modules bench/compiler_process
exec /usr/bin/python3 bench/compile.py "$build"
