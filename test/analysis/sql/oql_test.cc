#include "analysis/sql/oql.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

TEST(Oql, ATypeBehindFromIsAnsweredWithSql) {
  for (const char *question : {"SELECT * FROM Shop.Order", "select * from Shop.Order s where s._size = 0",
                               "select *\nfrom \"Shop.Order\" s", "SELECT * FROM INSTANCEOF Shop.Order",
                               "SELECT * FROM OBJECTS Shop.Order", "SELECT s.name FROM (Shop.Order) s"}) {
    const std::string said = instead_of_oql(question);
    EXPECT_NE(said.find("--type-exact Shop.Order "), std::string::npos) << question << said;
    EXPECT_TRUE(said.ends_with("where t.name = 'Shop.Order'")) << question << said;
  }
  EXPECT_NE(instead_of_oql("select s.@retainedHeapSize from Order s").find("t.name = 'Order'"), std::string::npos);
}

TEST(Oql, SqlIsLeftAlone) {
  for (const char *question :
       {"", "select", "select 1 from", "select bad from objects", "select bad from objects o where o.x = 1",
        "select bad from types t join objects o on o.type = t.id", "FROM FROM", "select @"})
    EXPECT_EQ(instead_of_oql(question), "") << question;
}

TEST(Oql, NamesAreShownAsText) {
  const std::string said = instead_of_oql("select * from A.\x1b[31m");
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_NE(said, "");
}

} // namespace
} // namespace dnheap
