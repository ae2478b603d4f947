#include "runtime/version.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

// .NET before 5.0 counted otherwise.
TEST(Version, OfTheLoadersRecord) {
  using Numbers = std::array<u16, 4>;
  struct Row {
    Numbers file;
    const char *path, *version;
  };
  for (const Row &row :
       {Row{{10, 0, 1426, 52326}, "Z:\\app-1.2.3\\coreclr.dll", "10.0.14"},
        Row{{8, 0, 3326, 52219}, "C:\\dotnet\\8.0.32\\coreclr.dll", "8.0.33"},
        Row{{9, 0, 24, 52809}, "coreclr.dll", "9.0.0"}, Row{{4, 700, 22, 11601}, "C:\\app\\coreclr.dll", ""},
        Row{{4, 700, 22, 11601}, "C:\\dotnet\\3.1.23\\coreclr.dll", "3.1.23"}}) {
    Module module;
    module.path = row.path;
    module.pe = PeIdentity{};
    module.pe->file_version = row.file;
    EXPECT_EQ(find_version(Target(), module), row.version);
  }
}

// Where the module's file is absent, nothing else says it; where it is there, it has to agree.
TEST(Version, AsTheRuntimePublishesIt) {
  Module module;
  module.path = "/usr/share/dotnet/shared/Microsoft.NETCore.App/11.0.1/libcoreclr.so";
  struct Row {
    const char *published, *version;
    bool is_doubted;
  };
  for (const Row &row :
       {Row{"11.0.1", "11.0.1", false}, Row{"11.0.1-rtm.26111", "11.0.1", false}, Row{"11.0.0+5c7d", "11.0.0", true},
        Row{"11.0", "11.0.1", false}, Row{"", "11.0.1", false}, Row{"x", "11.0.1", false}}) {
    SCOPED_TRACE(row.published);
    ContractDescriptor d;
    d.set_text("RuntimeProductVersionString", row.published, Origin::published);
    EXPECT_EQ(find_version(Target(), module, d), row.version);
    check_version(Target(), module, d);
    EXPECT_EQ(d.doubted.contains("RuntimeProductVersionString"), row.is_doubted);
  }
  EXPECT_EQ(find_version(Target(), module, ContractDescriptor()), "11.0.1");
}

} // namespace
} // namespace dnheap
