// Damaged metadata: whatever the bytes are, every look-up ends soon and reads nothing outside of them. Run it under the
// preset asan; the bytes are copied to the heap at their exact size, so that any read past their end is seen.
#include "metadata/signature.h"
#include "metadata/type_name.h"
#include "support/metadata_writer.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

namespace dnheap {
namespace {

std::vector<std::byte> sample(const MetadataShape &shape) {
  MetadataWriter w;
  w.module("sample.dll", {1, 2, 3});
  w.assembly("sample", {1, 0, 0, 0});
  u32 object = w.type_ref(token(Table::AssemblyRef, w.assembly_ref("System.Runtime")), "System", "Object");
  w.type_ref(token(Table::TypeRef, object), "", "Part`1");
  u32 enclosing = 0;
  for (int i = 0; i < 6; ++i) {
    std::string name = "Type" + std::to_string(i) + "`1";
    u32 type = i % 3 ? w.nested(enclosing, name, token(Table::TypeRef, object)) : w.type("N", name);
    enclosing = type;
    u32 field = w.field("field", field_signature(element(ElementType::Var) + Blob{0}));
    w.field("list", field_signature(element(ElementType::GenericInst) +
                                    type_reference(ElementType::Class, token(Table::TypeDef, type)) + Blob{1} +
                                    type_reference(ElementType::Class, token(Table::TypeSpec, 1))));
    w.method("method", method_signature(element(ElementType::Void), {element(ElementType::I4)}));
    w.generic(token(Table::TypeDef, type), {"T", "U", "V"});
    w.constant(token(Table::Field, field), ElementType::I4, {1, 0, 0, 0});
  }
  w.type_spec(element(ElementType::SzArray) + element(ElementType::Var) + Blob{0});
  if (shape.uncompressed) {
    for (u32 rid = 12; rid > 0; --rid)
      w.row(Table::FieldPtr, {rid});
    for (u32 rid = 6; rid > 0; --rid)
      w.row(Table::MethodPtr, {rid});
  }
  return w.write(shape);
}

// Calls everything there is to call; the sum keeps the compiler from dropping it.
std::size_t visit_all(const Metadata &m) {
  std::size_t sum = m.version().size() + m.user_string(1).size();
  if (m.module())
    sum += m.module()->name.size() + m.module()->mvid.size();
  if (m.assembly())
    sum += m.assembly()->name.size();
  auto last = [&](Table table) { return std::min(m.row_count(table), 40u) + 1; };
  for (u32 type = 0; type <= last(Table::TypeDef); ++type) {
    Token self = token(Table::TypeDef, type);
    sum += format_type_name(type_name_parts(m, self), {}).size() + type_name(m, self).size();
    sum += m.generic_parameters(self).size() + m.enclosing_type(type);
    for (u32 field : m.fields_of(type))
      if (std::optional<FieldRow> row = m.field(field)) {
        if (std::optional<SignatureType> signature = decode_field(row->signature))
          sum += describe(*signature, m, {type, 0}).size();
        sum += m.constant(token(Table::Field, field)).has_value() + m.type_of_field(field);
      }
    for (u32 method : m.methods_of(type))
      if (std::optional<MethodDefRow> row = m.method(method)) {
        if (std::optional<MethodSignature> signature = decode_method(row->signature))
          sum += describe_parameters(*signature, m, {type, method}).size();
        sum += m.type_of_method(method);
      }
  }
  for (u32 rid = 0; rid <= last(Table::TypeRef); ++rid)
    sum += type_name(m, token(Table::TypeRef, rid)).size();
  for (u32 rid = 0; rid <= last(Table::TypeSpec); ++rid)
    if (std::optional<SignatureType> type = decode_type(m.type_spec(rid)))
      sum += describe(*type, m).size();
  for (unsigned table = 0; table < 64; ++table)
    for (unsigned column = 0; column < 10; ++column)
      sum += m.column(static_cast<Table>(table), 1, column).value_or(0);
  return sum;
}

std::size_t visit_all(std::vector<std::byte> bytes) {
  std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  std::optional<Metadata> metadata = Metadata::parse({exact.get(), bytes.size()});
  return metadata ? visit_all(*metadata) : 0;
}

const MetadataShape shapes[] = {{}, {.uncompressed = true, .extra_data = true, .sort = false}, {.wide_rows = true}};

TEST(Corruption, EveryTruncation) {
  for (const MetadataShape &shape : shapes) {
    std::vector<std::byte> whole = sample(shape);
    ASSERT_GT(visit_all(whole), 1000u);
    for (std::size_t size = 0; size < whole.size(); ++size)
      visit_all(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

// A metadata root whose end is missing still tells what comes before.
TEST(Corruption, TruncatedHeapsLeaveTheTables) {
  std::vector<std::byte> whole = sample({});
  for (std::size_t size = whole.size() * 3 / 4; size < whole.size(); ++size) {
    std::optional<Metadata> m = Metadata::parse(Bytes(whole).first(size));
    ASSERT_TRUE(m);
    EXPECT_EQ(m->row_count(Table::TypeDef), 7u);
  }
}

TEST(Corruption, RandomBytes) {
  std::mt19937 random(335);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  auto start = std::chrono::steady_clock::now();
  unsigned parsed = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<std::byte> bytes = sample(shapes[below(std::size(shapes))]);
    std::size_t header = 260; // half of the damage goes to stream headers, row counts and the first tables
    for (std::size_t i = 0, n = 1 + below(12); i < n; ++i) {
      std::size_t at = below(2) ? below(std::min(bytes.size(), header)) : below(bytes.size());
      static constexpr u8 extremes[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
      bytes[at] = static_cast<std::byte>(below(2) ? extremes[below(5)] : below(256));
    }
    parsed += visit_all(bytes) != 0;
  }
  EXPECT_GT(parsed, 1000u); // else the damage is too coarse to test anything but parse()
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// 200,000 rows in the worst order: quadratic behaviour would take minutes.
// Each row refers to the last ones, or is nested in the one before: how long all questions take.
std::chrono::duration<double> time_of_hostile_tables(u32 count) {
  MetadataWriter w;
  u32 name = w.string("T"), signature = w.blob(field_signature(element(ElementType::I4)));
  for (u32 i = 0; i < count; ++i) {
    w.row(Table::TypeDef, {2, name, 0, 0, i % 2 ? 1 : count, 1});
    w.row(Table::Field, {6, name, signature});
    w.row(Table::NestedClass, {count - i, count - i - 1});
    w.row(Table::GenericParam, {0, 0, (count - i) << 1, name});
  }
  MetadataShape shape;
  shape.sort = false;
  std::vector<std::byte> bytes = w.write(shape);
  std::optional<Metadata> m = Metadata::parse(bytes);
  EXPECT_TRUE(m);
  const auto start = std::chrono::steady_clock::now();
  u64 fields = 0, nesting = 0, owners = 0;
  for (u32 type = 1; m && type <= count; ++type) {
    fields += m->fields_of(type).size();
    nesting += type_name_parts(*m, token(Table::TypeDef, type)).size();
    owners += m->type_of_field(type) != 0;
  }
  EXPECT_LE(fields, count);
  EXPECT_LE(nesting, 64u * count);
  EXPECT_GT(owners, 0u);
  return std::chrono::steady_clock::now() - start;
}

// Eight times as many rows would take 64 times as long if each looked at all. A ratio, as an emulated processor is
// slow.
TEST(Corruption, HostileTablesTakeLinearTime) {
  EXPECT_LT(time_of_hostile_tables(200'000), 32 * time_of_hostile_tables(25'000));
}

} // namespace
} // namespace dnheap
