#include "runtime/unnamed_fields.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

// Three types: an object, an array of references, an array of structs of three words; and strings.
struct Types : TypeSystem {
  enum : Address { object = 0x10, references = 0x20, structs = 0x30, text = 0x40 };
  Address free_object_method_table() const override { return 0; }
  std::optional<ObjectLayout> object_layout(Address type) const override {
    switch (type) {
    case object: return ObjectLayout{40, 0, true};
    case references: return ObjectLayout{24, 8, true};
    case structs: return ObjectLayout{24, 24, true};
    case text: return ObjectLayout{22, 2, false};
    default: return std::nullopt;
    }
  }
  const std::string &name(Address) override { return name_; }
  Notes notes() const override { return {}; }
  std::string name_;
};

TEST(UnnamedFields, ElementsByIndexAllElseByOffset) {
  Types types;
  UnnamedFields fields(types, 8);
  auto folded = [&](Address type, u64 offset) { return fields.text(fields.reference(type, offset)); };
  auto exact = [&](Address type, u64 offset) { return fields.exact_reference(0x1000, type, offset); };
  EXPECT_EQ(folded(Types::object, 16), ".0x10");
  EXPECT_EQ(exact(Types::object, 16), ".0x10");
  EXPECT_EQ(folded(Types::references, 16), "[*]");
  EXPECT_EQ(exact(Types::references, 16), "[0]");
  EXPECT_EQ(exact(Types::references, 16 + 8 * 771), "[771]");
  EXPECT_EQ(folded(Types::structs, 16 + 24 * 5 + 8), "[*].0x8");
  EXPECT_EQ(exact(Types::structs, 16 + 24 * 5), "[5].0x0");
  EXPECT_EQ(folded(Types::text, 16), ".0x10");
  EXPECT_EQ(folded(0x50, 16), ".0x10"); // no type at all
  EXPECT_EQ(fields.reference(Types::references, 16), fields.reference(Types::references, 800));
  ASSERT_TRUE(fields.elements(Types::structs));
  EXPECT_EQ(fields.elements(Types::structs)->start, 16u);
  EXPECT_EQ(fields.elements(Types::structs)->size, 24u);
  EXPECT_FALSE(fields.elements(Types::object));
}

} // namespace
} // namespace dnheap::test
