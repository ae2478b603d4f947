#!/usr/bin/env bash
# reproducible.sh [TARGET…]: what ./dev release makes of the last commit, twice: in another folder of another name, without the compiler cache, with
# another time zone and umask. Both must be the same bytes.
set -euo pipefail
project=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
(($#)) || set -- linux-x64
git -C "$project" rev-parse -q --verify HEAD >/dev/null || { echo "SKIPPED: reproducibility was NOT tested: this is no git repository" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_in() {
  git clone -q "$project" "$1"
  mkdir -p "$1/build"
  [[ ! -e $project/build/libraries ]] || cp -a "$project/build/libraries" "$1/build/"
  (cd "$1" && CCACHE_DISABLE=1 ./dev release "${@:2}" >"$1.log" 2>&1) || { tail -20 "$1.log" && return 1; }
}
make_in "$work/a" "$@"
(export TZ=Asia/Kathmandu LC_ALL=C && umask 077 && make_in "$work/another_longer_name" "$@")
if ! diff -r "$work/a/dist" "$work/another_longer_name/dist"; then
  echo "reproducible: two builds of the same commit differ"
  exit 1
fi
echo "reproducible: $(find "$work/a/dist" -type f | wc -l) files are the same"
