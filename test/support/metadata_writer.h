// Writes ECMA-335 metadata (II.24) for tests: valid by default, and oddly shaped on request. Members belong to the type
// added last, as the tables have it. Every function that adds a row returns its rid.
#pragma once
#include "base/bytes.h"
#include "metadata/signature.h"
#include "metadata/tables.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace dnheap {

// A signature as bytes: Blob{element(ElementType::SzArray), element(ElementType::I4)} and the like.
using Blob = std::vector<u8>;
Blob compressed(u32 value); // II.23.2
Blob operator+(Blob left, const Blob &right);
Blob field_signature(const Blob &type);
Blob method_signature(const Blob &returns, const std::vector<Blob> &parameters);
Blob type_reference(ElementType class_or_value_type, Token type);
inline Blob element(ElementType type) { return {static_cast<u8>(type)}; }

struct MetadataShape {
  bool uncompressed = false; // #- instead of #~
  bool wide_strings = false, wide_guids = false, wide_blobs = false;
  bool wide_rows = false;                // a #JTD stream
  bool extra_data = false;               // four more bytes behind the row counts
  std::vector<u8> pdb_id = {};           // of a portable PDB: 20 bytes
  std::map<Table, u32> module_rows = {}; // which then also says how many rows its module has
  bool sort = true;                      // the tables that II.22 wants sorted; else in the order of adding
};

class MetadataWriter {
public:
  MetadataWriter(); // begins with the type <Module>

  u32 string(std::string_view text); // offsets into the heaps
  u32 blob(const Blob &content);
  u32 guid(const std::array<u8, 16> &value);
  // A row of any table, columns as they will stand in the file.
  u32 row(Table table, std::vector<u32> columns);
  static u32 coded(ColumnKind kind, Token token);

  u32 module(std::string_view name, const std::array<u8, 16> &mvid);
  u32 assembly(std::string_view name, std::array<u16, 4> version, const Blob &public_key = {});
  u32 assembly_ref(std::string_view name);
  u32 type_ref(Token scope, std::string_view name_space, std::string_view name);
  u32 type(std::string_view name_space, std::string_view name, Token extends = 0, u32 flags = 1);
  u32 nested(u32 enclosing, std::string_view name, Token extends = 0); // nested public
  u32 field(std::string_view name, const Blob &signature, u16 flags = 0x0006);
  u32 method(std::string_view name, const Blob &signature, u32 rva = 0, u16 flags = 0x0006);
  u32 type_spec(const Blob &signature);
  // `names` are all parameters of the type or method: a nested type repeats those of the types around it.
  void generic(Token owner, const std::vector<std::string> &names);
  u32 constant(Token parent, ElementType type, const Blob &value);

  u32 row_count(Table table) const { return static_cast<u32>(rows_[static_cast<unsigned>(table)].size()); }
  std::vector<std::byte> write(const MetadataShape &shape = {}) const;

private:
  std::vector<std::byte> write_tables(const MetadataShape &shape) const;

  std::string strings_{'\0'};
  std::map<std::string, u32, std::less<>> string_offsets_;
  Blob blobs_{0}, guids_;
  std::array<std::vector<std::vector<u32>>, table_count> rows_;
};

} // namespace dnheap
