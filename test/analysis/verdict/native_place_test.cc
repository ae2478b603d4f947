// Which libraries are the system's. test/real/crashes.py shows what real stacks add.
#include "analysis/threads/system_libraries.h"
#include "analysis/verdict/native_place.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

TEST(NativePlace, LibrariesOfTheSystem) {
  for (const char *name : {"libc.so.6", "libc-2.31.so", "libm.so.6", "libpthread.so.0", "libstdc++.so.6",
                           "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-2.31.so", "ld-musl-x86_64.so.1",
                           "libc.musl-x86_64.so.1", "linux-vdso.so.1", "ntdll.dll", "KERNELBASE.dll", "ucrtbase.dll"})
    EXPECT_TRUE(is_system_library(name)) << name;
}

TEST(NativePlace, LibrariesOfTheProgram) {
  for (const char *name : {"libimaging.so", "libcrypto.so.3", "libc-client.so.2007", "libcoreclr.so", "libmagic.so.1",
                           "liblibc.so", "ntdll_hook.dll", "libc_wrapper.so", "", "l", "shop"})
    EXPECT_FALSE(is_system_library(name)) << name;
}

} // namespace
} // namespace dnheap
