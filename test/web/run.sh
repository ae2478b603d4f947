#!/usr/bin/env bash
# run.sh PROGRAM [TEST…]: the explorer's page in Debian's Chromium, served by PROGRAM. Exit code 77: not tested here.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
[[ $# -ge 1 ]] || { echo "usage: $0 PROGRAM [TEST…]" >&2; exit 2; }
program=$(readlink -f "$1")
shift
skip() { echo "SKIPPED: the explorer's page was NOT tested: $*"; exit 77; }

node=$(command -v node) || skip "there is no node"
(($("$node" -p 'process.versions.node.split(".")[0]') >= 20)) || skip "node is older than 20"
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
[[ -x $CHROMIUM ]] || skip "there is no $CHROMIUM (Debian's package chromium)"
command -v npm >/dev/null || skip "there is no npm"
# What the lock files name, once; npm writes its own copy of the lock when it is done.
for folder in "$here" "$here/../../web"; do
  if [[ ! $folder/node_modules/.package-lock.json -nt $folder/package-lock.json ]]; then
    npm ci --prefix "$folder" --no-audit --no-fund >/dev/null 2>&1 || skip "npm ci of $(basename "$folder") failed: no package registry?"
  fi
done
cd "$here"
(($#)) || set -- *.test.mjs
DNHEAP=$program exec "$node" --test --test-concurrency=1 --test-reporter=spec "$@"
