#!/usr/bin/env bash
# Cost of a recorded API call against the loader's tracing layer and tracers of library calls, on
# the software GPU; cost of recording an application; time to report ten million calls.
# ZESCOPE_BUILD names another build folder than build/release.
set -eu
cd "$(dirname "$0")/.."
build=${ZESCOPE_BUILD:-build/release}
ninja -C "$build" --quiet bench/trace_calls
exec /usr/bin/python3 bench/trace.py "$build" "$@"
