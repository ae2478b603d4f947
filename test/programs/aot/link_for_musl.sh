#!/usr/bin/env bash
# link_for_musl.sh ARGUMENT…: links as gcc does, but against musl of the root folder MUSL_ROOT (test/real/musl_root.sh makes it).
#
# NuGet has no NativeAOT for musl. This takes the objects of the one for glibc: they call almost nothing that musl has not by the same name,
# and what differs for such a program is what musl does: threads, their stacks, thread locals, malloc, the loader.
set -euo pipefail
libraries=$MUSL_ROOT/usr/lib/x86_64-linux-musl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What glibc's <sched.h> calls, and musl's does itself.
cat > "$work/glibc.c" << 'END'
#include <stdlib.h>
void *__sched_cpualloc(size_t count) { return calloc((count + 63) / 64, 8); }
void __sched_cpufree(void *set) { free(set); }
END
gcc -O1 -c "$work/glibc.c" -o "$work/glibc.o"
cat > "$work/specs" << END
*startfile:
$libraries/Scrt1.o $libraries/crti.o crtbeginS.o%s

*endfile:
crtendS.o%s $libraries/crtn.o

*lib:
-lc

*libgcc:
-lgcc_s libgcc.a%s

*link_libgcc:
-L$libraries

*link:
-m elf_x86_64 --eh-frame-hdr -dynamic-linker /lib/ld-musl-x86_64.so.1 -nostdlib
END
arguments=()
for argument in "$@"; do
  case $argument in
  -lz | -lrt | -ldl | -lm | -lpthread) ;; # the pack has zlib, and musl's libc all the others
  *) arguments+=("$argument") ;;
  esac
done
gcc -specs="$work/specs" "$work/glibc.o" "${arguments[@]}" -Wl,-z,stack-size=1572864 "$libraries/libstdc++.so.6" -lc "$(gcc -print-libgcc-file-name)"
