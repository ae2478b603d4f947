#!/usr/bin/env bash
# run.sh PROGRAM: the protocol's official TypeScript client asks `PROGRAM mcp`. Exit code 77: not tested here.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
[[ $# -eq 1 ]] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(readlink -f "$1")
skip() { echo "SKIPPED: dnheap mcp was NOT tested with the official client: $*"; exit 77; }

node=$(command -v node) || skip "there is no node"
(($("$node" -p 'process.versions.node.split(".")[0]') >= 20)) || skip "node is older than 20"
command -v npm >/dev/null || skip "there is no npm"
if [[ ! $here/node_modules/.package-lock.json -nt $here/package-lock.json ]]; then
  npm ci --prefix "$here" --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 || skip "npm ci failed: no package registry?"
fi
cd "$here"
DNHEAP=$program exec "$node" --test --test-reporter=spec client.test.mjs
