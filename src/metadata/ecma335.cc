#include "metadata/ecma335.h"

#include "metadata/lookup.h"
#include "metadata/signature.h"

#include <algorithm>
#include <mutex>

namespace dnheap {

namespace {

constexpr ByteOrder little = ByteOrder::little; // metadata is little-endian in every target
constexpr u32 root_signature = 0x424a5342;      // "BSJB"
constexpr u32 max_generic_parameters = 1024;

// As slice(), but returns the existing part if the bytes end early.
Bytes clamped_slice(Bytes bytes, u64 offset, u64 size) {
  if (offset >= bytes.size())
    return {};
  return bytes.subspan(offset, std::min<u64>(size, bytes.size() - offset));
}

bool is_nested(u32 type_flags) { return (type_flags & 7) >= 2; } // II.23.1.15, VisibilityMask

} // namespace

struct Metadata::FirstUse {
  template <class T> struct Slot {
    std::once_flag once;
    std::optional<T> value;
  };
  Slot<MemberLists> fields, methods;
  Slot<KeyIndex> nested, generics, constants;
};

Metadata::Metadata() : first_use_(std::make_shared<FirstUse>()) {}

// II.24.2.1: signature, two version numbers, reserved, then the length of the version text, the text, flags, streams.
std::optional<Metadata> Metadata::parse(Bytes root) {
  if (load_at<u32>(root, 0, little) != root_signature)
    return std::nullopt;
  std::optional<u32> length = load_at<u32>(root, 12, little);
  if (!length || *length > 255 + 1)
    return std::nullopt;
  std::optional<u16> streams = load_at<u16>(root, 16 + u64{*length} + 2, little);
  if (!streams)
    return std::nullopt;

  Metadata metadata;
  metadata.version_ = text_at(root.first(16 + u64{*length}), 16);
  if (!metadata.read_streams(root, 16 + u64{*length} + 4, *streams))
    return std::nullopt;
  return metadata;
}

// II.24.2.2: offset, size, and a name padded to a multiple of four bytes. The first of several streams with the same
// name counts.
bool Metadata::read_streams(Bytes root, u64 at, unsigned count) {
  Bytes tables;
  bool wide_rows = false;
  for (unsigned i = 0; i < count; ++i) {
    std::optional<u32> offset = load_at<u32>(root, at, little), size = load_at<u32>(root, at + 4, little);
    if (!offset || !size)
      break;
    std::string_view name = text_at(root, at + 8, 32);
    at += 8 + align_up(name.size() + 1, 4);

    Bytes stream = clamped_slice(root, *offset, *size);
    auto take = [&](Bytes &heap) {
      if (heap.empty())
        heap = stream;
    };
    if (name == "#~" || name == "#-")
      take(tables);
    else if (name == "#Strings")
      take(strings_);
    else if (name == "#US")
      take(users_);
    else if (name == "#Blob")
      take(blobs_);
    else if (name == "#GUID")
      take(guids_);
    else if (name == "#Pdb")
      take(pdb_);
    else if (name == "#JTD") // a delta of edit-and-continue
      wide_rows = true;
  }
  return read_tables(tables, wide_rows);
}

// II.24.2.6: reserved, version, heap sizes, a bit for each table present, a bit for each sorted table, the row counts,
// and the tables one after the other.
bool Metadata::read_tables(Bytes stream, bool wide_rows) {
  std::optional<u64> present = load_at<u64>(stream, 8, little);
  if (!present)
    return false;
  u8 heaps = static_cast<u8>(stream[6]);
  TableSizes sizes;
  sizes.wide_rows = wide_rows;
  sizes.wide_strings = heaps & 0x01;
  sizes.wide_guids = heaps & 0x02;
  sizes.wide_blobs = heaps & 0x04;
  u64 at = 24;
  for (unsigned table = 0; table < 64; ++table)
    if (*present >> table & 1) {
      std::optional<u32> rows = load_at<u32>(stream, at, little);
      if (!rows || *rows > max_rows)
        return false;
      if (table < table_count)
        sizes.rows[table] = *rows;
      at += 4;
    }
  // The runtime's own writer sets this bit, which is not in the standard, for four extra bytes here.
  if (heaps & 0x40)
    at += 4;

  for (unsigned table = 0; table < table_count; ++table)
    layouts_[table].rows = sizes.rows[table];
  add_module_rows(sizes);
  u64 offset = 0;
  for (unsigned table = 0; table < table_count; ++table) {
    TableLayout &layout = layouts_[table];
    layout.offset = offset;
    std::span<const Column> columns = columns_of(static_cast<Table>(table));
    for (unsigned i = 0; i < columns.size(); ++i) {
      layout.row_size = static_cast<u8>(layout.row_size + column_width(columns[i], sizes));
      layout.starts[i + 1] = layout.row_size;
    }
    offset += u64{layout.rows} * layout.row_size;
  }
  tables_ = clamped_slice(stream, at, offset);
  // From here on only rows whose bytes exist count, so that no claim of this header costs time or memory.
  for (TableLayout &layout : layouts_) {
    u64 bytes = tables_.size() - std::min<u64>(layout.offset, tables_.size());
    layout.rows = layout.row_size ? static_cast<u32>(std::min<u64>(layout.rows, bytes / layout.row_size)) : 0;
  }
  return true;
}

// The stream #Pdb: id, entry point, a bit for each table of the module that this PDB's row numbers refer to, and the
// row counts of these tables.
void Metadata::add_module_rows(TableSizes &sizes) const {
  const std::optional<u64> present = load_at<u64>(pdb_, 24, little);
  u64 at = 32;
  for (unsigned table = 0; present && table < 64; ++table) {
    if (!(*present >> table & 1))
      continue;
    const std::optional<u32> rows = load_at<u32>(pdb_, at, little);
    if (rows && table < table_count)
      sizes.rows[table] = std::max(sizes.rows[table], std::min(*rows, max_rows));
    at += 4;
  }
}

u32 Metadata::row_count(Table table) const {
  unsigned index = static_cast<unsigned>(table);
  return index < table_count ? layouts_[index].rows : 0;
}

Bytes Metadata::row(Table table, u32 rid) const {
  if (rid == 0 || rid > row_count(table))
    return {};
  const TableLayout &layout = layouts_[static_cast<unsigned>(table)];
  return slice(tables_, layout.offset + u64{rid - 1} * layout.row_size, layout.row_size);
}

std::optional<u32> Metadata::column(Table table, u32 rid, unsigned column) const {
  Bytes bytes = row(table, rid);
  if (bytes.empty() || column >= columns_of(table).size())
    return std::nullopt;
  const TableLayout &layout = layouts_[static_cast<unsigned>(table)];
  const std::byte *at = bytes.data() + layout.starts[column];
  return layout.starts[column + 1] - layout.starts[column] == 4 ? load<u32>(at, little) : load<u16>(at, little);
}

Token Metadata::token_column(Table table, u32 rid, unsigned column) const {
  std::optional<u32> value = this->column(table, rid, column);
  if (!value)
    return 0;
  Column shape = columns_of(table)[column];
  if (shape.kind == ColumnKind::Rid)
    return token(shape.target, *value);
  CodedIndex coded = coded_index(shape.kind);
  u32 tag = *value & ((1u << coded.tag_bits) - 1);
  if (tag >= coded.tables.size() || coded.tables[tag] == no_table)
    return 0;
  return token(coded.tables[tag], *value >> coded.tag_bits);
}

Bytes Metadata::guid(u32 index) const { return index ? slice(guids_, u64{index - 1} * 16, 16) : Bytes{}; }

// II.24.2.4: the length, compressed into one, two or four bytes, then the content.
Bytes Metadata::blob_in(Bytes heap, u32 offset) {
  Bytes rest = clamped_slice(heap, offset, heap.size());
  std::optional<u32> size = take_compressed(rest);
  return size ? slice(rest, 0, *size) : Bytes{};
}

std::optional<ModuleRow> Metadata::module() const {
  if (row(Table::Module, 1).empty())
    return std::nullopt;
  return ModuleRow{string(*column(Table::Module, 1, 1)), guid(*column(Table::Module, 1, 2))};
}

std::optional<AssemblyRow> Metadata::assembly() const {
  if (row(Table::Assembly, 1).empty())
    return std::nullopt;
  AssemblyRow assembly{string(*column(Table::Assembly, 1, 7)), {}, blob(*column(Table::Assembly, 1, 6))};
  for (unsigned i = 0; i < 4; ++i)
    assembly.version[i] = static_cast<u16>(*column(Table::Assembly, 1, 1 + i));
  return assembly;
}

std::optional<TypeDefRow> Metadata::type_def(u32 rid) const {
  if (row(Table::TypeDef, rid).empty())
    return std::nullopt;
  auto value = [&](unsigned i) { return *column(Table::TypeDef, rid, i); };
  return TypeDefRow{value(0), string(value(1)), string(value(2)), token_column(Table::TypeDef, rid, 3)};
}

std::optional<TypeRefRow> Metadata::type_ref(u32 rid) const {
  if (row(Table::TypeRef, rid).empty())
    return std::nullopt;
  auto value = [&](unsigned i) { return *column(Table::TypeRef, rid, i); };
  return TypeRefRow{token_column(Table::TypeRef, rid, 0), string(value(1)), string(value(2))};
}

std::optional<FieldRow> Metadata::field(u32 rid) const {
  if (row(Table::Field, rid).empty())
    return std::nullopt;
  auto value = [&](unsigned i) { return *column(Table::Field, rid, i); };
  return FieldRow{static_cast<u16>(value(0)), string(value(1)), blob(value(2))};
}

std::optional<MethodDefRow> Metadata::method(u32 rid) const {
  if (row(Table::MethodDef, rid).empty())
    return std::nullopt;
  auto value = [&](unsigned i) { return *column(Table::MethodDef, rid, i); };
  return MethodDefRow{value(0), static_cast<u16>(value(2)), string(value(3)), blob(value(4))};
}

// The parameter's row has the number in its second column. Methods without parameter names have no rows.
std::string_view Metadata::parameter(u32 method_rid, u32 number) const {
  const std::optional<u32> first = column(Table::MethodDef, method_rid, 5);
  const u32 end = column(Table::MethodDef, method_rid + 1, 5)
                      .value_or(std::max(row_count(Table::Param), row_count(Table::ParamPtr)) + 1);
  constexpr u32 most = 1 << 16; // numbers have 16 bits; number 0 is the return value
  for (u32 at = first.value_or(end); at < end && at - *first <= most; ++at) {
    const u32 rid = row_count(Table::ParamPtr) ? column(Table::ParamPtr, at, 0).value_or(0) : at;
    if (column(Table::Param, rid, 1) == number)
      return string(*column(Table::Param, rid, 2));
  }
  return {};
}

std::optional<ExportedTypeRow> Metadata::exported_type(u32 rid) const {
  if (row(Table::ExportedType, rid).empty())
    return std::nullopt;
  auto value = [&](unsigned i) { return *column(Table::ExportedType, rid, i); };
  return ExportedTypeRow{string(value(2)), string(value(3)), token_column(Table::ExportedType, rid, 4)};
}

Bytes Metadata::type_spec(u32 rid) const {
  std::optional<u32> offset = column(Table::TypeSpec, rid, 0);
  return offset ? blob(*offset) : Bytes{};
}

std::string_view Metadata::assembly_ref_name(u32 rid) const {
  std::optional<u32> offset = column(Table::AssemblyRef, rid, 6);
  return offset ? string(*offset) : std::string_view{};
}

std::string_view Metadata::module_ref_name(u32 rid) const {
  std::optional<u32> offset = column(Table::ModuleRef, rid, 0);
  return offset ? string(*offset) : std::string_view{};
}

const MemberLists &Metadata::member_lists(Table member) const {
  auto &slot = member == Table::Field ? first_use_->fields : first_use_->methods;
  std::call_once(slot.once, [&] { slot.value.emplace(*this, member); });
  return *slot.value;
}

const KeyIndex &Metadata::key_index(Table table) const {
  auto &slot = table == Table::NestedClass    ? first_use_->nested
               : table == Table::GenericParam ? first_use_->generics
                                              : first_use_->constants;
  unsigned key_column = table == Table::NestedClass ? 0 : table == Table::GenericParam ? 2 : 1;
  std::call_once(slot.once, [&] { slot.value.emplace(*this, table, key_column); });
  return *slot.value;
}

RidRange Metadata::fields_of(u32 type_rid) const { return member_lists(Table::Field).members(*this, type_rid); }
RidRange Metadata::methods_of(u32 type_rid) const { return member_lists(Table::MethodDef).members(*this, type_rid); }
u32 Metadata::type_of_field(u32 rid) const { return member_lists(Table::Field).type_of(*this, rid); }
u32 Metadata::type_of_method(u32 rid) const { return member_lists(Table::MethodDef).type_of(*this, rid); }

u32 RidRange::at(u32 position) const {
  return metadata_->row_count(pointers_) ? metadata_->column(pointers_, position, 0).value_or(0) : position;
}

u32 Metadata::enclosing_type(u32 type_rid) const {
  // Checks the visibility first, as the runtime does: most types are not nested.
  if (!is_nested(column(Table::TypeDef, type_rid, 0).value_or(0)))
    return 0;
  const KeyIndex &index = key_index(Table::NestedClass);
  auto [first, end] = index.find(*this, type_rid);
  return first < end ? column(Table::NestedClass, index.rid_at(first), 1).value_or(0) : 0;
}

namespace {

u32 owner_index(Token owner) {
  return rid_of(owner) << 1 | (table_of(owner) == Table::MethodDef ? 1 : 0); // II.24.2.6
}

} // namespace

u32 Metadata::generic_parameter_count(Token owner) const {
  auto [first, end] = key_index(Table::GenericParam).find(*this, owner_index(owner));
  return std::min(end - first, max_generic_parameters);
}

std::vector<std::string_view> Metadata::generic_parameters(Token owner) const {
  const KeyIndex &index = key_index(Table::GenericParam);
  auto [first, end] = index.find(*this, owner_index(owner));
  std::vector<std::string_view> names(std::min(end - first, max_generic_parameters));
  for (u32 position = first; position < end; ++position) {
    u32 rid = index.rid_at(position);
    u32 number = column(Table::GenericParam, rid, 0).value_or(~0u);
    if (number < names.size())
      names[number] = string(column(Table::GenericParam, rid, 3).value_or(0));
  }
  return names;
}

std::optional<ConstantRow> Metadata::constant(Token parent) const {
  u32 tag = table_of(parent) == Table::Field ? 0 : table_of(parent) == Table::Param ? 1 : 2; // HasConstant, II.24.2.6
  const KeyIndex &index = key_index(Table::Constant);
  auto [first, end] = index.find(*this, rid_of(parent) << 2 | tag);
  if (first == end)
    return std::nullopt;
  u32 rid = index.rid_at(first);
  return ConstantRow{static_cast<u8>(column(Table::Constant, rid, 0).value_or(0)),
                     blob(column(Table::Constant, rid, 2).value_or(0))};
}

} // namespace dnheap
