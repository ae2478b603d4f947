#include "runtime/library_names.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

TEST(LibraryNames, OfEverySystem) {
  for (const char *name : {"libcoreclr.so", "coreclr.dll", "libcoreclr.dylib"}) {
    EXPECT_TRUE(is_core_clr_library(name)) << name;
    EXPECT_TRUE(is_runtime_library(name)) << name;
    EXPECT_NE(core_clr_library_names().find(name), std::string::npos);
  }
  for (const char *name : {"libclrgc.so", "clrgcexp.dll", "libclrgcexp.dylib"}) {
    EXPECT_FALSE(is_core_clr_library(name)) << name;
    EXPECT_TRUE(is_runtime_library(name)) << name;
  }
  for (const char *name : {"libhostfxr.so", "hostpolicy.dll", "libhostpolicy.dylib"}) {
    EXPECT_TRUE(is_host_library(name)) << name;
    EXPECT_FALSE(is_runtime_library(name)) << name;
  }
  for (const char *name : {"", "coreclr", "mylibcoreclr.so", "libcoreclr.so.1"}) {
    EXPECT_FALSE(is_runtime_library(name)) << name;
    EXPECT_FALSE(is_host_library(name)) << name;
  }
}

TEST(LibraryNames, WindowsLibrariesThatHoldNoMetadata) {
  for (const char *name : {"clrjit.dll", "mscordaccore_amd64_amd64_9.0.9.dll", "api-ms-win-crt-heap-l1-1-0.dll",
                           "system.io.compression.native.dll"})
    EXPECT_TRUE(is_native_windows_library(name)) << name;
  for (const char *name : {"shop.dll", "system.private.corelib.dll", "native.dll"})
    EXPECT_FALSE(is_native_windows_library(name)) << name;
}

} // namespace
} // namespace dnheap
