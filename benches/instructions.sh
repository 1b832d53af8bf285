#!/usr/bin/env bash
# Holds the instructions per frame against benches/instructions.toml. Brings valgrind where it is missing and can be had;
# where it cannot, the check says that it is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind > /dev/null && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get install -y -qq valgrind > /dev/null 2>&1 \
        || { apt-get update -qq > /dev/null 2>&1 && apt-get install -y -qq valgrind > /dev/null 2>&1; } \
        || true
fi
exec cargo bench -q -p nicsim-benches --bench instructions -- "$@"
