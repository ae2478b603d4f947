// A suspect in words.
#include "analysis/suspects/suspect.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

Suspect table_of(u64 entries, u64 room) {
  Suspect s;
  s.owner = "static Shop.S.keep";
  s.steps = {{"", "Shop.S", 0x10, ""},
             {".map._tables._buckets[*]._node._value",
              "System.Collections.Generic.Dictionary<System.Int64, System.Guid>", 0x20, ""}};
  s.shown = 2, s.elements = entries, s.room = room, s.retained = u64{48} << 20;
  return s;
}

// What an entry takes would mislead where most of the bytes are room for others.
TEST(SuspectText, RoomForManyMore) {
  EXPECT_EQ(table_of(10, 1'114'111).text(), "Dictionary<Int64, Guid>: 10 entries in room for 1,114,111");
  EXPECT_EQ(table_of(1024, 0).text(), "Dictionary<Int64, Guid>: 1,024 entries, 48.0 KiB each");
}

TEST(SuspectText, HandlersThatAreLambdas) {
  Suspect s;
  s.owner = "static Shop.Bus.Published", s.elements = 3000;
  s.calls = "Shop.Screen+<>c__DisplayClass1_0.<Open>b__0 ×3,000";
  EXPECT_EQ(s.text(), "3,000 handlers: a lambda in Open of Shop.Screen ×3,000");
  s.calls = "Shop.Screen.OnClick ×2,999, Shop.Menu.OnClick ×1";
  EXPECT_EQ(s.text(), "3,000 handlers: " + s.calls);
}

// An object that several owners share is named by its type, with which its text begins.
TEST(SuspectText, ATypeIsNamedOnceInASentence) {
  Suspect s;
  s.owner = "thread 10 Shop.Export.Run() and others",
  s.steps = {{"", "System.Collections.Generic.List<Shop.Row>", 0x10, ""}};
  s.shown = 1, s.element = "Shop.Row", s.elements = 2048, s.retained = u64{2} << 20;
  EXPECT_EQ(s.way() + " | " + s.text(),
            "thread 10 Shop.Export.Run() and others … List<Shop.Row> | List<Shop.Row>: 2,048 × Shop.Row, 1.0 KiB each");
  EXPECT_EQ(way_and_text(s.way(), s.text()),
            "thread 10 Shop.Export.Run() and others … List<Shop.Row>: 2,048 × Shop.Row, 1.0 KiB each");
  s.owner = "static Shop.Export.rows";
  EXPECT_EQ(way_and_text(s.way(), s.text()), "static Shop.Export.rows: List<Shop.Row>: 2,048 × Shop.Row, 1.0 KiB each");
  s.kind = Suspect::Kind::many;
  EXPECT_EQ(way_and_text(s.way(), s.text()), "static Shop.Export.rows: 2,048 × Shop.Row, 1.0 KiB each");
}

TEST(SuspectText, AWayIsFolded) { EXPECT_EQ(table_of(10, 0).way(), "static Shop.S.keep.map[*]"); }

} // namespace
} // namespace dnheap::test
