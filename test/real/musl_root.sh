#!/usr/bin/env bash
# musl_root.sh FOLDER: makes FOLDER, a root folder in which programs for musl run that need C++: musl of Debian's package, libgcc_s.so.1 and
# libstdc++.so.6 built for it from Debian's source package of the compiler here, and bin/dotnet, which starts .NET where it lies.
#
# Nothing of this machine is changed; what it says goes to FOLDER.log. It needs g++, make and apt-get, and takes a minute; where ccache is,
# less the second time.
set -euo pipefail
root=$1
work=$root.making
exec > "$root.log" 2>&1
major=$(g++ -dumpversion | cut -d. -f1)
rm -rf "$work"
mkdir -p "$work"/{packages,source,build/libgcc,build/libstdc++,bin}

# --- packages, unpacked
cd "$work/packages"
wanted=(musl musl-dev "gcc-$major-source")
private=(-o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
apt-get -q download "${wanted[@]}" || { # no lists here, or old ones
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  apt-get -q "${private[@]}" update
  apt-get -q "${private[@]}" download "${wanted[@]}"
}
for package in musl*.deb; do dpkg -x "$package" "$work/root"; done
mv "$work/root/lib/x86_64-linux-musl/libc.so" "$work/root/lib/ld-musl-x86_64.so.1" # as on Alpine, which of the two is the file
ln -s ../ld-musl-x86_64.so.1 "$work/root/lib/x86_64-linux-musl/libc.so"
dpkg -x gcc-*.deb "$work/packages"
tar -xJf "usr/src/gcc-$major/"gcc-*.tar.xz -C "$work/source" --strip-components=1 --exclude='*/testsuite/*/*' --wildcards --no-wildcards-match-slash \
  '*/libstdc++-v3' '*/libgcc' '*/include' '*/config' '*/libiberty' '*/gcc/BASE-VER' '*/gcc/tsystem.h' '*/gcc/coretypes.h' '*/*.m4' '*/*.sh' '*/config.*' \
  '*/config-ml.in' '*/install-sh' '*/missing' '*/mkinstalldirs' '*/depcomp' '*/compile' '*/move-if-change' '*/multilib.am' '*/symlink-tree' '*/mkdep'
date +%Y%m%d > "$work/source/gcc/DATESTAMP"

# --- a compiler for musl
headers=$work/root/usr/include/x86_64-linux-musl libraries=$work/root/usr/lib/x86_64-linux-musl
ln -s ../../../lib/x86_64-linux-musl/libc.so "$libraries/libc.so"
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -dumpmachine)/asm" "$headers/"
cat > "$work/bin/specs" << END
*startfile:
%{!shared: $libraries/Scrt1.o} $libraries/crti.o crtbeginS.o%s

*endfile:
crtendS.o%s $libraries/crtn.o

*libgcc:
-lgcc_s libgcc.a%s

*link_libgcc:
-L$libraries

*link:
-m elf_x86_64 --eh-frame-hdr -dynamic-linker /lib/ld-musl-x86_64.so.1 -nostdlib %{shared:-shared} %{rdynamic:-export-dynamic}
END
for compiler in gcc g++; do
  cat > "$work/bin/$compiler" << END
#!/bin/sh
case " \$* " in
*" -c "*) exec $(command -v ccache || true) $compiler -nostdinc -isystem $headers -isystem $(gcc -print-file-name=include) "\$@" ;;
*) exec $compiler -specs=$work/bin/specs -nostdinc -isystem $headers -isystem $(gcc -print-file-name=include) "\$@" $(gcc -print-libgcc-file-name) ;;
esac
END
  chmod +x "$work/bin/$compiler"
done
export CCACHE_BASEDIR=$work

# --- libgcc: what follows exceptions up the stack; all else of it is in each library
cd "$work/build/libgcc"
touch tconfig.h auto-target.h libgcc_tm.h
echo '#define DWARF_REG_TO_UNWIND_COLUMN(number) (number)' > tm.h
cp "$work/source/libgcc/unwind-generic.h" unwind.h
cp "$work/source/libgcc/gthr-posix.h" gthr-default.h
cp "$work/source/libgcc/config/i386/linux-unwind.h" md-unwind-support.h
for name in unwind-dw2 unwind-dw2-fde-dip unwind-sjlj unwind-c emutls; do
  "$work/bin/gcc" -O2 -fPIC -fbuilding-libgcc -fno-stack-protector -fexceptions -fnon-call-exceptions -DIN_GCC -DIN_LIBGCC2 -DUSED_FOR_TARGET \
    -DUSE_PT_GNU_EH_FRAME -DHAVE_CC_TLS -DUSE_EMUTLS -I. -I"$work/source/libgcc" -I"$work/source/include" -I"$work/source/gcc" \
    -c "$work/source/libgcc/$name.c" -o "$name.o"
done
"$work/bin/gcc" -nodefaultlibs -shared -Wl,-soname,libgcc_s.so.1 -o "$libraries/libgcc_s.so.1" ./*.o -lc
ln -s libgcc_s.so.1 "$libraries/libgcc_s.so"

# --- libstdc++
cd "$work/build/libstdc++"
"$work/source/libstdc++-v3/configure" --build=x86_64-linux-gnu --host=x86_64-linux-musl --with-target-subdir= --enable-shared --disable-static \
  --disable-multilib --disable-nls --disable-libstdcxx-pch --disable-libstdcxx-debug --disable-libstdcxx-filesystem-ts --enable-cet=no \
  CC="$work/bin/gcc" CXX="$work/bin/g++" AR=ar RANLIB=ranlib LD=ld NM=nm CFLAGS='-O0 -g0' CXXFLAGS='-O0 -g0'
make -j "$(nproc)"
cp -L src/.libs/libstdc++.so.6 "$libraries/"
"$work/root/lib/ld-musl-x86_64.so.1" --library-path "$libraries" --list "$libraries/libstdc++.so.6" # fails where a symbol is not to be had

# --- dotnet
mkdir "$work/root/bin"
cat > "$work/build/dotnet.c" << 'END'
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, const char** arguments) {
  char path[4096] = {0};
  glob_t found = {0};
  if (readlink("/proc/self/exe", path, sizeof path - 64) <= 0) return 1;
  strcpy(strrchr(path, '/'), "/host/fxr/*/libhostfxr.so");
  void* host = glob(path, 0, NULL, &found) ? NULL : dlopen(found.gl_pathv[0], RTLD_NOW);
  int (*run)(int, const char**) = host ? (int (*)(int, const char**))dlsym(host, "hostfxr_main") : NULL;
  if (!run) fprintf(stderr, "%s: %s\n", path, found.gl_pathc ? dlerror() : "no such file");
  return run ? run(count, arguments) : 1;
}
END
"$work/bin/gcc" -O1 "$work/build/dotnet.c" -o "$work/root/bin/dotnet"

rm -rf "$work/root/usr/share" "$work/root/usr/include" "$libraries"/*.a
mv "$work/root" "$root"
rm -rf "$work"
