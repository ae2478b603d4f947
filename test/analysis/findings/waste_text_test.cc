// One row of waste in words, as `report` shows it.
#include "analysis/findings/examination.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::string text_of(const char *field) {
  WasteRow row;
  row.kind = WasteKind::unused_room, row.count = 8, row.what = "System.IO.MemoryStream", row.field = field;
  return waste_text(row);
}

TEST(WasteText, WhereItIs) {
  const std::string begin = "8 × MemoryStream, room that nothing uses, in ";
  EXPECT_EQ(text_of("Shop.Report.Pages"), begin + "Shop.Report.Pages");
  EXPECT_EQ(text_of("System.Collections.Generic.Dictionary<System.String, System.IO.MemoryStream>+Entry[].value"),
            begin + "values of Dictionary<String, MemoryStream>");
  EXPECT_EQ(text_of("Shop.Map+Entry[].value"), begin + "Shop.Map+Entry[].value");
  EXPECT_EQ(text_of("Shop.Report+<>c__DisplayClass2_0.pages"), begin + "variable pages of lambdas in Shop.Report");
}

} // namespace
} // namespace dnheap::test
