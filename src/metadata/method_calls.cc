#include "metadata/method_calls.h"

#include "metadata/signature.h"

#include <array>
#include <utility>

namespace dnheap {

namespace {

constexpr u8 no_instruction = 0xff, switches = 0xfe; // in place of an operand's size
constexpr u8 call = 0x28, callvirt = 0x6f, newobj = 0x73, ldfld = 0x7b, ldflda = 0x7c, stfld = 0x7d, ldsfld = 0x7e,
             ldsflda = 0x7f, stsfld = 0x80, prefix = 0xfe;
constexpr u8 ldftn = 0x06, ldvirtftn = 0x07; // behind the prefix
constexpr u64 most_fields = 4;               // before one call
constexpr u8 tiny = 2, fat = 3;              // the lowest two bits of a body's first byte

struct Operands {
  u8 first, last, size;
};

constexpr std::array<u8, 256> sizes_of(std::span<const Operands> rows) {
  std::array<u8, 256> out{};
  out.fill(no_instruction);
  for (const Operands &row : rows)
    for (unsigned code = row.first; code <= row.last; ++code)
      out[code] = row.size;
  return out;
}

// Partition III of ECMA-335: the number of bytes that follow the instruction's code.
constexpr Operands rows_of_one[] = {
    {0x00, 0x0d, 0}, {0x0e, 0x13, 1},        {0x14, 0x1e, 0}, {0x1f, 0x1f, 1}, {0x20, 0x20, 4}, {0x21, 0x21, 8},
    {0x22, 0x22, 4}, {0x23, 0x23, 8},        {0x25, 0x26, 0}, {0x27, 0x29, 4}, {0x2a, 0x2a, 0}, {0x2b, 0x37, 1},
    {0x38, 0x44, 4}, {0x45, 0x45, switches}, {0x46, 0x6e, 0}, {0x6f, 0x75, 4}, {0x76, 0x76, 0}, {0x79, 0x79, 4},
    {0x7a, 0x7a, 0}, {0x7b, 0x81, 4},        {0x82, 0x8b, 0}, {0x8c, 0x8d, 4}, {0x8e, 0x8e, 0}, {0x8f, 0x8f, 4},
    {0x90, 0xa2, 0}, {0xa3, 0xa5, 4},        {0xb3, 0xba, 0}, {0xc2, 0xc2, 4}, {0xc3, 0xc3, 0}, {0xc6, 0xc6, 4},
    {0xd0, 0xd0, 4}, {0xd1, 0xdc, 0},        {0xdd, 0xdd, 4}, {0xde, 0xde, 1}, {0xdf, 0xe0, 0}};
constexpr Operands rows_of_two[] = {{0x00, 0x05, 0}, {0x06, 0x07, 4}, {0x09, 0x0e, 2}, {0x0f, 0x0f, 0}, {0x11, 0x11, 0},
                                    {0x12, 0x12, 1}, {0x13, 0x14, 0}, {0x15, 0x16, 4}, {0x17, 0x18, 0}, {0x19, 0x19, 1},
                                    {0x1a, 0x1a, 0}, {0x1c, 0x1c, 4}, {0x1d, 0x1e, 0}};
constexpr std::array<u8, 256> sizes_of_one = sizes_of(rows_of_one), sizes_of_two = sizes_of(rows_of_two);

std::optional<IlUse> use_of(u8 code, u8 second) {
  switch (code) {
  case call:
  case callvirt: return IlUse::calls;
  case newobj: return IlUse::makes;
  case ldfld:
  case ldflda:
  case ldsfld:
  case ldsflda: return IlUse::reads_field;
  case stfld:
  case stsfld: return IlUse::writes_field;
  case prefix: return second == ldftn || second == ldvirtftn ? std::optional(IlUse::points) : std::nullopt;
  default: return std::nullopt;
  }
}

u32 word(Bytes bytes, u64 at) { return load<u32>(bytes.data() + at, ByteOrder::little); }

std::string qualified(std::string_view name_space, std::string_view name) {
  return name_space.empty() ? std::string(name) : std::string(name_space) + "." + std::string(name);
}

// Returns the generic type of a TypeSpec; other types unchanged; 0: it has no name of its own.
Token open_type(const Metadata &metadata, Token type) {
  if (table_of(type) != Table::TypeSpec)
    return table_of(type) == Table::TypeDef || table_of(type) == Table::TypeRef ? type : 0;
  const std::optional<SignatureType> spec = decode_type(metadata.type_spec(rid_of(type)));
  return spec && spec->kind == ElementType::GenericInst && !spec->children.empty() ? spec->children[0].token : 0;
}

// `type`: as type_of_member() returns it.
std::string name_of_type(const Metadata &metadata, Token type) {
  if (table_of(type) == Table::TypeRef) {
    const std::optional<TypeRefRow> row = metadata.type_ref(rid_of(type));
    return row ? qualified(row->name_space, row->name) : "";
  }
  const std::optional<TypeDefRow> row =
      type && table_of(type) == Table::TypeDef ? metadata.type_def(rid_of(type)) : std::nullopt;
  return row ? qualified(row->name_space, row->name) : "";
}

// Returns the method that a MethodSpec gives arguments to; other tokens unchanged.
Token open_member(const Metadata &metadata, Token member) {
  return table_of(member) == Table::MethodSpec ? metadata.token_column(Table::MethodSpec, rid_of(member), 0) : member;
}

} // namespace

std::optional<IlPlace> find_il(Bytes body) {
  if (body.empty())
    return std::nullopt;
  const u8 first = static_cast<u8>(body[0]);
  if ((first & 3) == tiny)
    return IlPlace{1, static_cast<u64>(first >> 2)};
  if ((first & 3) != fat || body.size() < most_body_header)
    return std::nullopt;
  const u64 header = 4 * (static_cast<u64>(body[1]) >> 4);
  return header == most_body_header ? std::optional(IlPlace{header, word(body, 4)}) : std::nullopt;
}

std::optional<std::vector<NamedInIl>> find_uses(Bytes il) {
  std::vector<NamedInIl> out;
  for (u64 at = 0; at < il.size();) {
    const u64 begin = at;
    const u8 code = static_cast<u8>(il[at++]);
    u64 size = sizes_of_one[code];
    u8 second = 0;
    if (code == prefix) {
      second = at < il.size() ? static_cast<u8>(il[at++]) : no_instruction;
      size = sizes_of_two[second];
    }
    if (size == no_instruction || (size == switches && at + 4 > il.size()))
      return std::nullopt;
    if (size == switches)
      size = 4 + 4 * u64{word(il, at)};
    if (size > il.size() - at)
      return std::nullopt;
    if (const std::optional<IlUse> use = use_of(code, second))
      out.push_back({static_cast<u32>(begin), word(il, at), *use});
    at += size;
  }
  return out;
}

std::optional<std::vector<MethodCall>> find_calls(Bytes il) {
  const std::optional<std::vector<NamedInIl>> uses = find_uses(il);
  if (!uses)
    return std::nullopt;
  std::vector<MethodCall> out;
  std::vector<Token> fields;
  for (const NamedInIl &one : *uses)
    if (one.use == IlUse::calls)
      out.push_back({one.il_offset, one.token, std::exchange(fields, {})});
    else if (one.use == IlUse::reads_field) {
      if (fields.size() == most_fields)
        fields.erase(fields.begin());
      fields.push_back(one.token);
    }
  return out;
}

CalleeName name_of_callee(const Metadata &metadata, Token callee) {
  CalleeName out{name_of_type(metadata, type_of_member(metadata, callee)),
                 std::string(name_of_member(metadata, callee))};
  return table_of(callee) == Table::Field || out.type.empty() || out.method.empty() ? CalleeName{} : out;
}

Token type_of_member(const Metadata &metadata, Token member) {
  member = open_member(metadata, member);
  switch (table_of(member)) {
  case Table::MemberRef: return open_type(metadata, metadata.token_column(Table::MemberRef, rid_of(member), 0));
  case Table::MethodDef:
    if (const u32 type = metadata.type_of_method(rid_of(member)))
      return token(Table::TypeDef, type);
    return 0;
  case Table::Field:
    if (const u32 type = metadata.type_of_field(rid_of(member)))
      return token(Table::TypeDef, type);
    return 0;
  default: return 0;
  }
}

std::string_view name_of_member(const Metadata &metadata, Token member) {
  member = open_member(metadata, member);
  if (table_of(member) == Table::MemberRef) {
    const std::optional<u32> name = metadata.column(Table::MemberRef, rid_of(member), 1);
    return name ? metadata.string(*name) : std::string_view();
  }
  if (table_of(member) == Table::Field) {
    const std::optional<FieldRow> row = metadata.field(rid_of(member));
    return row ? row->name : std::string_view();
  }
  const std::optional<MethodDefRow> row =
      table_of(member) == Table::MethodDef ? metadata.method(rid_of(member)) : std::nullopt;
  return row ? row->name : std::string_view();
}

} // namespace dnheap
