#!/usr/bin/env bash
# reproducible.sh [--beside DIST] [TARGET…]: what ./dev release makes of the last commit, twice: in another folder of another name, without the
# compiler cache, with another umask, and where it is another day. Both must be the same bytes.
#
# With --beside one build is enough: DIST, which ./dev release made of the same targets, is the other. The commit is that of its program, and the
# libraries (packaging/libraries.sh) are made anew as well.
set -euo pipefail
project=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
beside=
[[ ${1:-} != --beside ]] || { beside=$(readlink -f "${2:?which folder?}") && shift 2; }
if (($#)); then :; elif [[ $beside ]]; then set -- linux-x64 linux-arm64 win-x64; else set -- linux-x64; fi
git -C "$project" rev-parse -q --verify HEAD >/dev/null || { echo "SKIPPED: reproducibility was NOT tested: this is no git repository" && exit 77; }
commit=HEAD
[[ ! $beside ]] || commit=$("$beside/dnheap-linux-x64" --version | grep -oE '\b[0-9a-f]{7,40}\b' | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_in() {
  git clone -q "$project" "$1"
  git -C "$1" checkout -q "$commit"
  mkdir -p "$1/build"
  [[ $beside || ! -e $project/build/libraries ]] || cp -a "$project/build/libraries" "$1/build/"
  (cd "$1" && CCACHE_DISABLE=1 ./dev release "${@:2}" >"$1.log" 2>&1) || { tail -20 "$1.log" && return 1; }
}
made=${beside:-$work/a/dist}
[[ $beside ]] || make_in "$work/a" "$@"
# Where it is tomorrow already, or else where it is still yesterday.
day=Pacific/Kiritimati
[[ $(TZ=$day date +%d) != $(date +%d) ]] || day=Pacific/Pago_Pago
(export TZ=$day LC_ALL=C && umask 077 && make_in "$work/another_longer_name" "$@")
if ! diff -r "$made" "$work/another_longer_name/dist"; then
  echo "reproducible: two builds of the same commit differ"
  [[ -z ${KEEP_WORK:-} ]] || trap - EXIT
  exit 1
fi
echo "reproducible: $(find "$made" -type f | wc -l) files are the same"
