#!/usr/bin/env bash
# libraries.sh win-x64|linux-arm64: the static libraries that dnheap links, for that target: build/libraries/TARGET/SOURCE-PACKAGE, each with
# its `version` and `copyright`. From Debian's own source packages (win-x64, for which Debian has zlib alone), or from its packages
# of that architecture (linux-arm64). Nothing is installed; a second run does nothing.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source packaging/apt.sh
target=${1:?which target?}
out=$PWD/build/libraries/$target
made_by=$(cat packaging/libraries.sh packaging/apt.sh | sha256sum)
[[ $(cat "$out/made_by" 2>/dev/null) != "$made_by" ]] || exit 0
work=$out.work
log=$work/log
rm -rf "$out" "$work"
mkdir -p "$out" "$work"
quietly() { "$@" >"$log" 2>&1 || { tail -30 "$log" >&2 && echo "libraries: failed: $*" >&2 && exit 1; }; }

# source_of PACKAGE: unpacks it, with Debian's patches; sets `folder`, where it is, and `to`, where what is made of it goes.
source_of() {
  echo "libraries: $1 for $target" >&2
  mkdir -p "$work/source/$1" "$out/$1/include" "$out/$1/lib"
  (cd "$work/source/$1" && quietly "${apt[@]}" source "$1")
  folder=$(echo "$work/source/$1"/*/)
  folder=${folder%/}
  to=$out/$1
  cp "$folder/debian/copyright" "$to/"
  awk '/^Version:/ { print $2; exit }' "$work/source/$1"/*.dsc >"$to/version"
}

# by_cmake SOURCE OPTION…
by_cmake() {
  quietly cmake -S "$1" -B "$folder-build" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$PWD/packaging/$target.cmake" -D CMAKE_INSTALL_PREFIX="$to" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_FLAGS="$flags" -D CMAKE_CXX_FLAGS="$flags" -D BUILD_SHARED_LIBS=OFF "${@:2}"
  quietly cmake --build "$folder-build"
  quietly cmake --install "$folder-build"
}

for_windows() {
  local host=x86_64-w64-mingw32 options
  flags="-O2 -ffunction-sections -fdata-sections -ffile-prefix-map=$work/source=."
  open_archive "$work/apt" "$(dpkg --print-architecture)" deb-src
  source_of fmtlib
  by_cmake "$folder" -D FMT_TEST=OFF -D FMT_DOC=OFF
  source_of nlohmann-json3
  by_cmake "$folder" -D JSON_BuildTests=OFF
  source_of xxhash # its header is all
  cp "$folder/xxhash.h" "$to/include/"
  source_of libzstd
  by_cmake "$folder/build/cmake" -D ZSTD_BUILD_PROGRAMS=OFF -D ZSTD_BUILD_SHARED=OFF -D ZSTD_BUILD_TESTS=OFF -D ZSTD_LEGACY_SUPPORT=OFF
  source_of re2 # Debian takes its tables out, and makes them anew
  (cd "$folder" && quietly make REBUILD_TABLES=1 re2/perl_groups.cc re2/unicode_groups.cc re2/unicode_casefold.cc)
  by_cmake "$folder" -D RE2_BUILD_TESTING=OFF
  source_of libevent
  by_cmake "$folder" -D EVENT__LIBRARY_TYPE=STATIC -D EVENT__DISABLE_OPENSSL=ON -D EVENT__DISABLE_TESTS=ON \
    -D EVENT__DISABLE_SAMPLES=ON -D EVENT__DISABLE_BENCHMARK=ON -D EVENT__DISABLE_REGRESS=ON
  source_of sqlite3 # with the options that Debian builds it with
  options=$(grep -o -- '-DSQLITE_[A-Z0-9_=]*' "$folder/debian/rules" | sort -u | tr '\n' ' ')
  options+="-DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5" # which its configure adds
  (cd "$folder" && quietly ./configure --disable-tcl && quietly make sqlite3.c OPTS="$options")
  # shellcheck disable=SC2086
  quietly $host-gcc-posix $flags -fno-strict-aliasing $options -c "$folder/sqlite3.c" -o "$folder/sqlite3.o"
  quietly $host-ar rcsD "$to/lib/libsqlite3.a" "$folder/sqlite3.o"
  cp "$folder/sqlite3.h" "$to/include/"
}

# for_architecture ARCHITECTURE PACKAGE…: as Debian built them.
for_architecture() {
  open_archive "$work/apt" "$1" deb
  mkdir "$work/packages"
  (cd "$work/packages" && quietly "${apt[@]}" download "${@:2}")
  local package source
  for package in "$work/packages"/*.deb; do
    # "re2 (20220601+dfsg-1)", where its version differs from the package's own.
    source=$(dpkg-deb -W --showformat='${source:Package}' "$package")
    to=$out/$source
    mkdir -p "$to"
    dpkg-deb -x "$package" "$to"
    dpkg-deb -W --showformat='${source:Version}\n' "$package" >"$to/version"
    [[ ! -e $to/usr/share/doc/$(dpkg-deb -W --showformat='${Package}' "$package")/copyright ]] ||
      cp "$to/usr/share/doc/$(dpkg-deb -W --showformat='${Package}' "$package")/copyright" "$to/copyright"
  done
}

case $target in
win-x64) for_windows ;;
linux-arm64) for_architecture arm64 libfmt-dev libfmt9 nlohmann-json3-dev libxxhash-dev libzstd-dev zlib1g-dev libre2-dev libre2-9 libevent-dev libsqlite3-dev \
  libedit-dev libbsd-dev libmd-dev libncurses-dev ;;
*) echo "libraries: no such target: $target" >&2 && exit 2 ;;
esac
[[ -n ${KEEP_WORK:-} ]] || rm -rf "$work"
echo "$made_by" >"$out/made_by"
