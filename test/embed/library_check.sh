#!/usr/bin/env bash
# What the guide says of libraries, done in this checkout: its commands build and install the preset `library`; then a C++ program finds
# that by CMake and pkg-config, a C program links libdnheap-c.so, Python and a NuGet package load it. Ends with 1 and says what fails.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check WHAT COMMAND…: 77 says that something from outside is missing.
check() {
  local result=0
  "${@:2}" >"$work/log" 2>&1 || result=$?
  case $result in
  0) echo "ok: $1" ;;
  77) echo "SKIPPED: $1: $(tail -n 1 "$work/log")" ;;
  *) echo "FAILED: $1" && tail -n 30 "$work/log" && failed=1 ;;
  esac
}

# The guide's lines, as they stand there, without their remarks.
mapfile -t commands < <(sed -nE '/^(\.\/dev build library|cmake --install build\/library)/ s/ *#.*//p' doc/guide/libraries.md)
((${#commands[@]} == 2)) || { echo "FAILED: the guide has other commands: ${commands[*]}" && exit 1; }
for command in "${commands[@]}"; do
  check "$command" bash -c "${command/…/$work/prefix}"
done
((failed)) && exit 1

library=$PWD/build/library/libdnheap-c.so
check "C++, by find_package and pkg-config" cmake -D BUILD="$PWD/build/library" -D PROJECT="$PWD" -D WORK="$work/embed" -D CXX="${CXX:-c++}" \
  -D GENERATOR=Ninja -P test/embed/installed_test.cmake
check "C" python3 test/c/c_check.py "$library" "${CXX:-c++}"
check "Python" python3 test/python/python_check.py build/library/dnheap "$library"
check ".NET" python3 test/dotnet/dotnet_check.py build/library/dnheap "$library"
exit "$failed"
