#include "support/metadata_writer.h"

#include <algorithm>

namespace dnheap {

namespace {

class Output {
public:
  template <std::unsigned_integral T> void put(T value) {
    for (unsigned i = 0; i < sizeof value; ++i)
      bytes.push_back(static_cast<std::byte>(value >> 8 * i));
  }
  void put(std::string_view text) {
    for (char c : text)
      put(static_cast<u8>(c));
  }
  void align() { bytes.resize(align_up(bytes.size(), 4)); }

  std::vector<std::byte> bytes;
};

std::vector<std::byte> bytes_of(const auto &content) {
  std::vector<std::byte> bytes;
  for (auto c : content)
    bytes.push_back(static_cast<std::byte>(c));
  bytes.resize(align_up(bytes.size(), 4));
  return bytes;
}

} // namespace

Blob compressed(u32 value) {
  auto byte = [&](unsigned shift) { return static_cast<u8>(value >> shift); };
  if (value < 0x80)
    return {byte(0)};
  if (value < 0x4000)
    return {static_cast<u8>(byte(8) | 0x80), byte(0)};
  return {static_cast<u8>(byte(24) | 0xc0), byte(16), byte(8), byte(0)};
}

Blob operator+(Blob left, const Blob &right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Blob field_signature(const Blob &type) { return Blob{0x06} + type; }

Blob method_signature(const Blob &returns, const std::vector<Blob> &parameters) {
  Blob out = Blob{0x20} + compressed(static_cast<u32>(parameters.size())) + returns;
  for (const Blob &parameter : parameters)
    out = std::move(out) + parameter;
  return out;
}

Blob type_reference(ElementType class_or_value_type, Token type) {
  return element(class_or_value_type) + compressed(MetadataWriter::coded(ColumnKind::TypeDefOrRef, type));
}

MetadataWriter::MetadataWriter() { type("", "<Module>", 0, 0); }

u32 MetadataWriter::string(std::string_view text) {
  if (text.empty())
    return 0;
  auto [at, is_new] = string_offsets_.try_emplace(std::string(text), static_cast<u32>(strings_.size()));
  if (is_new)
    strings_.append(text).append(1, '\0');
  return at->second;
}

u32 MetadataWriter::blob(const Blob &content) {
  u32 offset = static_cast<u32>(blobs_.size());
  blobs_ = std::move(blobs_) + compressed(static_cast<u32>(content.size())) + content;
  return offset;
}

u32 MetadataWriter::guid(const std::array<u8, 16> &value) {
  guids_.insert(guids_.end(), value.begin(), value.end());
  return static_cast<u32>(guids_.size() / 16);
}

u32 MetadataWriter::row(Table table, std::vector<u32> columns) {
  std::vector<std::vector<u32>> &rows = rows_[static_cast<unsigned>(table)];
  rows.push_back(std::move(columns));
  return static_cast<u32>(rows.size());
}

u32 MetadataWriter::coded(ColumnKind kind, Token token) {
  CodedIndex index = coded_index(kind);
  auto tag = std::find(index.tables.begin(), index.tables.end(), table_of(token)) - index.tables.begin();
  return rid_of(token) << index.tag_bits | static_cast<u32>(tag);
}

u32 MetadataWriter::module(std::string_view name, const std::array<u8, 16> &mvid) {
  return row(Table::Module, {0, string(name), guid(mvid), 0, 0});
}

u32 MetadataWriter::assembly(std::string_view name, std::array<u16, 4> version, const Blob &public_key) {
  const u32 key = public_key.empty() ? 0 : blob(public_key);
  return row(Table::Assembly, {0x8004, version[0], version[1], version[2], version[3], 0, key, string(name), 0});
}

u32 MetadataWriter::assembly_ref(std::string_view name) {
  return row(Table::AssemblyRef, {1, 0, 0, 0, 0, 0, string(name), 0, 0});
}

u32 MetadataWriter::type_ref(Token scope, std::string_view name_space, std::string_view name) {
  return row(Table::TypeRef, {coded(ColumnKind::ResolutionScope, scope), string(name), string(name_space)});
}

u32 MetadataWriter::type(std::string_view name_space, std::string_view name, Token extends, u32 flags) {
  auto next = [&](Table table) { return static_cast<u32>(rows_[static_cast<unsigned>(table)].size() + 1); };
  return row(Table::TypeDef, {flags, string(name), string(name_space), coded(ColumnKind::TypeDefOrRef, extends),
                              next(Table::Field), next(Table::MethodDef)});
}

u32 MetadataWriter::nested(u32 enclosing, std::string_view name, Token extends) {
  u32 rid = type("", name, extends, 2);
  row(Table::NestedClass, {rid, enclosing});
  return rid;
}

u32 MetadataWriter::field(std::string_view name, const Blob &signature, u16 flags) {
  return row(Table::Field, {flags, string(name), blob(signature)});
}

u32 MetadataWriter::method(std::string_view name, const Blob &signature, u32 rva, u16 flags) {
  return row(Table::MethodDef, {rva, 0, flags, string(name), blob(signature), 1});
}

u32 MetadataWriter::type_spec(const Blob &signature) { return row(Table::TypeSpec, {blob(signature)}); }

void MetadataWriter::generic(Token owner, const std::vector<std::string> &names) {
  for (u32 i = 0; i < names.size(); ++i)
    row(Table::GenericParam, {i, 0, coded(ColumnKind::TypeOrMethodDef, owner), string(names[i])});
}

u32 MetadataWriter::constant(Token parent, ElementType type, const Blob &value) {
  return row(Table::Constant, {static_cast<u32>(type), coded(ColumnKind::HasConstant, parent), blob(value)});
}

std::vector<std::byte> MetadataWriter::write_tables(const MetadataShape &shape) const {
  TableSizes sizes;
  sizes.wide_strings = shape.wide_strings;
  sizes.wide_guids = shape.wide_guids;
  sizes.wide_blobs = shape.wide_blobs;
  sizes.wide_rows = shape.wide_rows;
  u64 present = 0;
  for (unsigned i = 0; i < table_count; ++i) {
    sizes.rows[i] = static_cast<u32>(rows_[i].size());
    present |= u64{!rows_[i].empty()} << i;
  }

  Output out;
  out.put(u32{0});
  out.put(u8{2}); // version 2.0
  out.put(u8{0});
  out.put(static_cast<u8>(shape.wide_strings | shape.wide_guids << 1 | shape.wide_blobs << 2 | shape.extra_data << 6));
  out.put(u8{1});
  out.put(present);
  out.put(u64{0}); // which tables are sorted: the reader must not believe it anyway
  for (u32 rows : sizes.rows)
    if (rows)
      out.put(rows);
  for (const auto &[table, rows] : shape.module_rows)
    sizes.rows[static_cast<unsigned>(table)] = rows;
  if (shape.extra_data)
    out.put(u32{0xdddddddd});

  for (unsigned i = 0; i < table_count; ++i) {
    Table table = static_cast<Table>(i);
    std::vector<std::vector<u32>> rows = rows_[i];
    if (shape.sort && (table == Table::NestedClass || table == Table::GenericParam || table == Table::Constant)) {
      unsigned key = table == Table::NestedClass ? 0 : table == Table::GenericParam ? 2 : 1;
      std::stable_sort(rows.begin(), rows.end(), [&](const auto &a, const auto &b) { return a[key] < b[key]; });
    }
    for (const std::vector<u32> &row : rows)
      for (unsigned k = 0; k < row.size(); ++k)
        if (column_width(columns_of(table)[k], sizes) == 4)
          out.put(row[k]);
        else
          out.put(static_cast<u16>(row[k]));
  }
  out.align();
  return out.bytes;
}

std::vector<std::byte> MetadataWriter::write(const MetadataShape &shape) const {
  struct Stream {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<Stream> streams{{shape.uncompressed ? "#-" : "#~", write_tables(shape)},
                              {"#Strings", bytes_of(strings_)},
                              {"#US", bytes_of(Blob{0, 3, 'a', 0, 0})},
                              {"#GUID", bytes_of(guids_)},
                              {"#Blob", bytes_of(blobs_)}};
  if (shape.wide_rows)
    streams.push_back({"#JTD", {}});
  if (!shape.pdb_id.empty()) {
    Output pdb;
    for (u8 one : shape.pdb_id)
      pdb.put(one);
    pdb.put(u32{0}); // no entry point
    u64 present = 0;
    for (const auto &[table, rows] : shape.module_rows)
      present |= u64{1} << static_cast<unsigned>(table);
    pdb.put(present);
    for (const auto &[table, rows] : shape.module_rows)
      pdb.put(rows);
    streams.push_back({"#Pdb", pdb.bytes});
  }

  Output out;
  out.put(std::string_view("BSJB"));
  out.put(u16{1});
  out.put(u16{1});
  out.put(u32{0});
  out.put(u32{12});
  out.put(std::string_view("v4.0.30319\0\0", 12));
  out.put(u16{0});
  out.put(static_cast<u16>(streams.size()));
  u64 at = out.bytes.size();
  for (const Stream &stream : streams)
    at += 8 + align_up(stream.name.size() + 1, 4);
  for (const Stream &stream : streams) {
    out.put(static_cast<u32>(at));
    out.put(static_cast<u32>(stream.bytes.size()));
    out.put(std::string_view(stream.name.c_str(), stream.name.size() + 1));
    out.align();
    at += stream.bytes.size();
  }
  for (const Stream &stream : streams)
    out.bytes.insert(out.bytes.end(), stream.bytes.begin(), stream.bytes.end());
  return out.bytes;
}

} // namespace dnheap
