#!/usr/bin/env bash
# static_test.sh PROGRAM DUMP: is the program one file that needs no other? Runs it where there is no other.
set -euo pipefail
program=$1 dump=$2

fail() { echo "static test: $*" >&2; exit 1; }

# No interpreter and no libraries; and position-independent (ELF type DYN).
headers=$(readelf -hld "$program")
grep -q 'Type: *DYN' <<<"$headers" || fail "not position-independent"
! grep -q 'INTERP' <<<"$headers" || fail "needs an interpreter"
! grep -q 'NEEDED' <<<"$headers" || fail "needs libraries"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$program" "$root/dnheap"
mkdir "$root/tmp" # a compressed dump needs somewhere to be unpacked to
in_root=(chroot "$root")
if ((EUID)); then
  in_root=(unshare -r chroot "$root")
  if ! "${in_root[@]}" /dnheap --version >/dev/null 2>&1; then
    echo "static test: SKIPPED in an empty root folder: not root, and no user namespaces here"
    exit 0
  fi
fi
[[ $("${in_root[@]}" /dnheap --version) == "dnheap "[0-9]* ]] || fail "--version"
"${in_root[@]}" /dnheap --help >"$root/help" || fail "--help"
grep -q '^usage: dnheap' "$root/help" || fail "--help says nothing"
if [[ -e $dump ]]; then
  cp "$dump" "$root/$(basename "$dump")"
  "${in_root[@]}" /dnheap stat "/$(basename "$dump")" >"$root/stat" || fail "cannot open $dump"
  grep -q 'System.String' "$root/stat" || fail "no System.String in $dump"
  # The shell at a terminal of which nothing is known here: a plain prompt, and no word about that.
  if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    printf 'stat --top 1\nquit\n' |
      TERM=xterm script -qec "${in_root[*]} /dnheap shell /$(basename "$dump")" /dev/null >"$root/shell" || fail "shell"
    grep -q '^dnheap> ' "$root/shell" || fail "no prompt"
    grep -q 'System.Byte' "$root/shell" || fail "the shell does not answer"
    ! grep -qi 'termcap\|terminal' "$root/shell" || fail "the shell speaks of terminals: $(cat "$root/shell")"
  fi
else
  echo "static test: SKIPPED the sample dump: there is no $dump"
fi
echo "static test: ok"
