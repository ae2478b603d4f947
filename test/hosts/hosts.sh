#!/usr/bin/env bash
# hosts.sh [--all] [--compilers] [SUITE…]: do the README's commands work where nothing is installed? For each suite (bookworm, trixie,
# jammy, noble) debootstrap makes a bare root; the files that git knows go into it, and the README's first command is run
# there; it has to install what it needs, and to compile without a warning. --all: the second command, too. --compilers: the other
# compilers that the suite has look at all sources, too. One line per suite.
#
# Needs root, debootstrap and a mirror: one that apt uses on this machine, or one of $DNHEAP_MIRRORS (URLs with spaces
# between). A suite without a mirror, or whose keys are not here, is skipped, and said so. Packages, logs and ccache's
# files are kept in $DNHEAP_CACHE/hosts. Exit code 0: works wherever it was tried; 1: not; 77: nothing was tried.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
project=$PWD
kept=${DNHEAP_CACHE:-$project/build/real-cache}/hosts
declare -A names=([bookworm]="Debian 12" [trixie]="Debian 13" [jammy]="Ubuntu 22.04" [noble]="Ubuntu 24.04")
declare -A others=([bookworm]="clang++-16" [trixie]="g++-13 clang++-19" [jammy]="" [noble]="g++-14 clang++-18")

usage() { echo "usage: ./dev hosts [--all] [--compilers] [bookworm|trixie|jammy|noble]…" >&2 && exit 2; }

# The README's command N, as it stands in the block at the top.
readme_command() { grep -om"$1" '^\./dev [a-z]*' README.md | sed -n "$1p"; }

# mirror_of SUITE: the first mirror that has it.
mirror_of() {
  local mirror found
  found=$(mktemp)
  for mirror in ${DNHEAP_MIRRORS:-} $(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | sort -u); do
    if /usr/lib/apt/apt-helper download-file "${mirror%/}/dists/$1/Release" "$found" >/dev/null 2>&1; then
      echo "${mirror%/}" && break
    fi
  done
  rm -f "$found"
}

# What happens to the machine's mounts stays in here: try_suite SUITE MIRROR KEYS ROOT COMMAND…
try_suite() {
  local suite=$1 mirror=$2 keys=$3 root=$4 components=main
  shift 4
  [[ ${names[$suite]} == Debian* ]] || components=main,universe
  mkdir -p "$kept/$suite/packages" "$kept/$suite/archives/partial" "$kept/ccache"
  # ccache is all that is there beside what every installation has: so that a second run is quick.
  debootstrap --variant=minbase --components="$components" --include=ccache --keyring="$keys" \
    --cache-dir="$kept/$suite/packages" "$suite" "$root" "$mirror" || return
  mkdir -p "$root/project" "$root/ccache"
  cp /etc/resolv.conf "$root/etc/"
  git ls-files -z | tar -c --null -T - | tar -x -C "$root/project" || return
  mount -t proc proc "$root/proc" && mount --bind "$kept/$suite/archives" "$root/var/cache/apt/archives" &&
    mount --bind "$kept/ccache" "$root/ccache" || return
  local command
  for command in "$@"; do
    echo "=== $command"
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin CI=true CCACHE_DIR=/ccache \
      CCACHE_BASEDIR=/project sh -c "cd /project && $command" </dev/null || return
  done
}

commands=("$(readme_command 1)") look=""
while [[ ${1:-} == --* ]]; do
  case $1 in
  --all) commands+=("$(readme_command 2)") ;;
  --compilers) look=yes ;;
  *) usage ;;
  esac
  shift
done
commands+=("test/static/static_test.sh build/release/dnheap sample/demo.core.zst")
suites=("$@")
((${#suites[@]})) || suites=(bookworm trixie jammy noble)
for suite in "${suites[@]}"; do [[ -n ${names[$suite]:-} ]] || usage; done
((EUID == 0)) || { echo "hosts: needs root, for debootstrap and chroot" >&2; exit 77; }
./dev install debootstrap
command -v debootstrap >/dev/null || { echo "hosts: debootstrap is needed, and there is none here" >&2; exit 77; }

tried=0 failed=0
mkdir -p "$kept"
for suite in "${suites[@]}"; do
  host="$suite (${names[$suite]})"
  keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
  [[ ${names[$suite]} != Debian* ]] || keys=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(mirror_of "$suite")
  if [[ -z $mirror ]]; then
    echo "SKIPPED $host: NOT TESTED: no mirror that apt uses here has it, and DNHEAP_MIRRORS names none"
    continue
  fi
  if [[ ! -e $keys ]]; then
    echo "SKIPPED $host: NOT TESTED: its packages cannot be checked, as there is no $keys here"
    continue
  fi
  looking=()
  if [[ $look ]]; then
    looking=("./dev install libgtest-dev librapidcheck-dev python3")
    for other in ${others[$suite]}; do looking+=("./dev install ${other/clang++/clang} && python3 test/hosts/look.py $other"); done
  fi
  tried=1 begin=$SECONDS root=$(mktemp -d "$kept/root.XXXXXX") result=ok
  export -f try_suite
  declare -p names kept >"$root.settings"
  unshare --mount --propagation private nice -n 10 bash -uo pipefail -c \
    'source "$0"; try_suite "$@"' "$root.settings" "$suite" "$mirror" "$keys" "$root" "${commands[@]}" "${looking[@]}" \
    >"$kept/$suite.log" 2>&1 || { result=FAILED failed=1; }
  tools=$(chroot "$root" sh -c 'g++ --version | head -1; cmake --version | head -1' 2>/dev/null | tr '\n' ';')
  # Debian's SQLite could load extensions, which this program has none of; older linkers cannot be asked to be silent about it.
  warnings=$(grep 'warning:' "$kept/$suite.log" | grep -cv "Using 'dlopen' in statically linked applications")
  ((warnings == 0)) || result=FAILED failed=1
  echo "$result $host: ${commands[*]::${#commands[@]}-1}${look:+, and a look by ${others[$suite]:-no other}} in $((SECONDS - begin)) s; $warnings warnings; ${tools%;}"
  [[ $result == ok ]] || tail -n 15 "$kept/$suite.log" | sed 's/^/  | /'
  rm -rf --one-file-system "$root" "$root.settings"
done
((tried)) || exit 77
exit "$failed"
