// Which libraries are the system's. test/real/crashes.py shows what real stacks add.
#include "analysis/threads/system_libraries.h"
#include "analysis/verdict/native_place.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

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

// The C library ends a process where it finds a fault, and its function says which.
TEST(NativePlace, FaultsThatTheCLibraryFinds) {
  constexpr const char *freed = "; malloc found its blocks damaged: one was freed twice, or something wrote past the "
                                "end of one";
  for (const auto &[place, words] : std::vector<std::pair<std::string, std::string>>{
           {"libc.so.6!__stack_chk_fail+0x10, called by libthumbs.so!smash+0x46",
            "; a function wrote past the end of an array on its stack"},
           {"libc.so.6!__assert_fail+0x42",
            "; an assertion does not hold; its text is in the process's standard error"},
           {"libc.so.6!__libc_free+0x6f, called by libthumbs.so!close+0x20", freed},
           {"libc.so.6!free+0x6f", freed},
           {"libc.so.6!abort+0xd3, called by libthumbs.so!free+0x39", ""},
           {"libc.so.6!freelocale+0x10", ""},
           {"libthumbs.so!free+0x1", ""}, // one of the program's own
           {"libc.so.6+0x1234", ""},
           {"", ""}})
    EXPECT_EQ(failure_in_words(place), words) << place;
}

} // namespace
} // namespace dnheap
