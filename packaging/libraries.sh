#!/usr/bin/env bash
# libraries.sh win-x64|linux-x64|linux-arm64: static libraries that dnheap links, for that target: build/libraries/TARGET/SOURCE-PACKAGE, each
# with its `version` and `copyright`. From Debian's own source packages (all for win-x64, for which Debian has zlib alone; for Linux those of zstd and
# sqlite, as they are made smaller than Debian's packages are, and of RE2, as it is to go into a shared library, too), or from its packages of
# that architecture (linux-arm64). Nothing is installed; a second run does nothing. DNHEAP_SOURCES: see source.sh.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
source packaging/apt.sh
source packaging/source.sh
target=${1:?which target?}
out=$PWD/build/libraries/$target
made_by=$(cat packaging/libraries.sh packaging/apt.sh packaging/source.sh | sha256sum)
# Said each time, as what is shipped has them: older versions than the archive's index names.
say_older() { [[ ! -e $out/older ]] || sed 's/^/libraries: WARNING: /' "$out/older" >&2; }
[[ $(cat "$out/made_by" 2>/dev/null) != "$made_by" ]] || { say_older && exit 0; }
work=$out.work
log=$work/log
rm -rf "$out" "$work"
mkdir -p "$out" "$work"
export LC_ALL=C.UTF-8 # files of a folder in the same order everywhere
quietly() { "$@" >"$log" 2>&1 || { tail -30 "$log" >&2 && echo "libraries: failed: $*" >&2 && exit 1; }; }

# source_of PACKAGE: unpacks it, with Debian's patches; sets `folder`, where it is, and `to`, where what is made of it goes.
source_of() {
  echo "libraries: $1 for $target" >&2
  mkdir -p "$out/$1/include" "$out/$1/lib"
  quietly unpack_source "$1" "$work/source/$1"
  [[ -z $older ]] || echo "$older" >>"$out/older"
  folder=$(echo "$work/source/$1"/*/)
  folder=${folder%/}
  to=$out/$1
  cp "$folder/debian/copyright" "$to/"
  awk '/^Version:/ { print $2; exit }' "$work/source/$1"/*.dsc >"$to/version"
}

# by_cmake SOURCE OPTION…
by_cmake() {
  quietly cmake -S "$1" -B "$folder-build" -G Ninja -D CMAKE_TOOLCHAIN_FILE="$PWD/packaging/$target.cmake" -D CMAKE_INSTALL_PREFIX="$to" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_FLAGS="$flags" -D CMAKE_CXX_FLAGS="$flags" -D BUILD_SHARED_LIBS=OFF \
    -D CMAKE_CXX_FLAGS_RELEASE=-DNDEBUG -D CMAKE_C_FLAGS_RELEASE=-DNDEBUG "${@:2}"
  quietly cmake --build "$folder-build"
  quietly cmake --install "$folder-build"
}

# compile_into ARCHIVE FLAG… -- FILE…: by the compiler for C of that target.
compile_into() {
  local archive=$1 file objects=() options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  for file in "${@:2}"; do
    # shellcheck disable=SC2086
    quietly "$host-gcc${host_threads:-}" $flags "${options[@]}" -c "$file" -o "$file.o"
    objects+=("$file.o")
  done
  quietly "$host-ar" rcsD "$archive" "${objects[@]}"
}

# The two that are made small: they are a fifth of the program otherwise. Of zstd what reads, and the compression that dnheap writes with,
# are as fast as ever.
zstd() {
  local file small=()
  source_of libzstd
  cd "$folder/lib"
  for file in lazy opt ldm fast; do small+=("compress/zstd_$file.c"); done
  compile_into "$to/lib/libzstd.a" -Os -I. -Icommon -- "${small[@]}"
  rm "${small[@]}"
  compile_into "$to/lib/libzstd.a" -O3 -I. -Icommon -DZSTD_LEGACY_SUPPORT=0 -- common/*.c compress/*.c decompress/*.c decompress/*.S
  cp zstd.h zstd_errors.h "$to/include/"
  cd "$OLDPWD"
}

# With the options that Debian builds it with, but without full-text search, R-trees and other things that no question to a heap needs.
sqlite() {
  local options unused='FTS|RTREE|DBSTAT|LOAD_EXTENSION|PREUPDATE|SESSION|STMTVTAB|UNLOCK_NOTIFY|COLUMN_METADATA|UPDATE_DELETE_LIMIT'
  source_of sqlite3
  options=$(grep -o -- '-DSQLITE_[A-Z0-9_=]*' "$folder/debian/rules" | grep -vE "$unused" | sort -u | tr '\n' ' ')
  options+="-DSQLITE_ENABLE_MATH_FUNCTIONS" # which its configure adds
  options+=" -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_TCL_VARIABLE"
  (cd "$folder" && quietly ./configure --disable-tcl && quietly make sqlite3.c OPTS="$options")
  # shellcheck disable=SC2086
  compile_into "$to/lib/libsqlite3.a" -Os -fno-strict-aliasing $options -- "$folder/sqlite3.c"
  cp "$folder/sqlite3.h" "$to/include/"
}

xz() {
  source_of xz-utils
  by_cmake "$folder" -D ENABLE_NLS=OFF -D BUILD_TESTING=OFF
  rm -r "$to/bin" # its programs
}

lz4() {
  source_of lz4
  cd "$folder/lib"
  compile_into "$to/lib/liblz4.a" -O3 -DXXH_NAMESPACE=LZ4_ -- lz4.c lz4hc.c lz4frame.c xxhash.c
  cp lz4.h lz4hc.h lz4frame.h "$to/include/"
  cd "$OLDPWD"
}

# Debian takes its tables out, and makes them anew.
re2() {
  source_of re2
  (cd "$folder" && quietly make REBUILD_TABLES=1 re2/perl_groups.cc re2/unicode_groups.cc re2/unicode_casefold.cc)
  by_cmake "$folder" -D RE2_BUILD_TESTING=OFF
}

for_windows() {
  host=x86_64-w64-mingw32 host_threads=-posix
  flags="-O2 -ffunction-sections -fdata-sections -ffile-prefix-map=$work/source=."
  open_archive "$work/apt" "$(dpkg --print-architecture)" deb-src
  source_of fmtlib
  by_cmake "$folder" -D FMT_TEST=OFF -D FMT_DOC=OFF
  source_of nlohmann-json3
  by_cmake "$folder" -D JSON_BuildTests=OFF
  source_of xxhash # its header is all
  cp "$folder/xxhash.h" "$to/include/"
  re2
  source_of libevent
  by_cmake "$folder" -D EVENT__LIBRARY_TYPE=STATIC -D EVENT__DISABLE_OPENSSL=ON -D EVENT__DISABLE_TESTS=ON \
    -D EVENT__DISABLE_SAMPLES=ON -D EVENT__DISABLE_BENCHMARK=ON -D EVENT__DISABLE_REGRESS=ON
  zstd
  sqlite
  xz
  lz4
}

# for_linux HOST: all others are Debian's packages. No exception passes through zstd and sqlite: what sqlite calls catches all (src/analysis/sql).
for_linux() {
  host=$1
  flags="-fPIC -O2 -g1 -ffunction-sections -fdata-sections -ffile-prefix-map=$work/source=. -ffile-prefix-map=$PWD=."
  open_archive "$work/apt" "$(dpkg --print-architecture)" deb-src
  re2
  flags+=" -fno-asynchronous-unwind-tables"
  zstd
  sqlite
}

# for_architecture ARCHITECTURE PACKAGE…: as Debian built them.
for_architecture() {
  open_archive "$work/apt-$1" "$1" deb
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
linux-x64) for_linux x86_64-linux-gnu ;;
linux-arm64)
  for_architecture arm64 libfmt-dev libfmt9 nlohmann-json3-dev libxxhash-dev zlib1g-dev liblzma-dev liblz4-dev libevent-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libtinfo6 libgtest-dev librapidcheck-dev
  for_linux aarch64-linux-gnu
  ;;
*) echo "libraries: no such target: $target" >&2 && exit 2 ;;
esac
say_older
[[ -n ${KEEP_WORK:-} ]] || rm -rf "$work"
echo "$made_by" >"$out/made_by"
