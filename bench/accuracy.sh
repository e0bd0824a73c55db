#!/usr/bin/env bash
# The model of time: launches of which parts are replayed beside whole ones, on each generation.
set -eu
exec /usr/bin/python3 "$(dirname "$0")/accuracy.py" "$@"
