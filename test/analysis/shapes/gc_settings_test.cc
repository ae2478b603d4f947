#include "analysis/shapes/gc_settings.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Numbers of variables are hexadecimal. What is not about the GC is nobody's business.
TEST(GCSettings, OfVariables) {
  struct Row {
    const char *variable, *name, *value;
    std::optional<u64> limit;
  };
  for (const Row &row :
       {Row{"DOTNET_GCHeapHardLimit=C800000", "DOTNET_GCHeapHardLimit", "C800000", 0xC800000},
        Row{"COMPlus_GCHeapHardLimit=0x100", "COMPlus_GCHeapHardLimit", "0x100", 0x100},
        Row{"DOTNET_GCHeapHardLimit=much", "DOTNET_GCHeapHardLimit", "much", {}},
        Row{"DOTNET_GCHeapHardLimitPercent=32", "DOTNET_GCHeapHardLimitPercent", "32", {}},
        Row{"DOTNET_gcServer=1", "DOTNET_gcServer", "1", {}}, Row{"DOTNET_gcServer=", "DOTNET_gcServer", "", {}}}) {
    const std::optional<GCSetting> found = gc_setting_of_variable(row.variable);
    ASSERT_TRUE(found) << row.variable;
    EXPECT_EQ(found->name, row.name);
    EXPECT_EQ(found->value, row.value);
    EXPECT_EQ(found->hard_limit, row.limit) << row.variable;
  }
  for (const char *variable : {"", "=", "DOTNET_GCHeapHardLimit", "DOTNET_=1", "DOTNET_TieredCompilation=0",
                               "PASSWORD=DOTNET_GC=1", "GCHeapHardLimit=1"})
    EXPECT_FALSE(gc_setting_of_variable(variable)) << variable;
}

// A limit of 0 is none.
TEST(GCSettings, TheFirstLimitCounts) {
  GCSettings settings;
  EXPECT_EQ(settings.hard_limit(), nullptr);
  settings.list = {{"DOTNET_gcServer", "1", true, {}},
                   {"DOTNET_GCHeapHardLimit", "0", true, 0},
                   {"System.GC.HeapHardLimit", "5", false, 5},
                   {"System.GC.HeapHardLimit", "6", false, 6}};
  ASSERT_NE(settings.hard_limit(), nullptr);
  EXPECT_EQ(settings.hard_limit()->hard_limit, 5u);
}

} // namespace
} // namespace dnheap::test
