// Reads ECMA-335 metadata (II.24) in place: the bytes from 'BSJB' on, as a loaded module or its file holds them.
//
// parse() costs O(number of tables); a row, a string, a blob O(1). Look-ups by key (enclosing type, generic parameters,
// constant, owner of a method) are binary searches. The first look-up of a kind checks, in O(rows), that the table is
// sorted as II.22 demands; if not, it makes a sorted copy of the keys. So no input makes look-ups slow. Nothing is
// trusted: an index out of range gives an empty optional, span or text, never an exception. When the bytes end early
// (pages that a dump lacks), everything before the end remains readable. Texts are UTF-8 as the file has it, not
// validated, and point into the bytes, which must outlive every result. All const functions may be called from several
// threads at once.
#pragma once
#include "base/bytes.h"
#include "metadata/tables.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace dnheap {

class Metadata;
class MemberLists;
class KeyIndex;

// A range of row numbers: for (u32 rid : metadata.fields_of(type)). Refers to the Metadata it came from.
class RidRange {
public:
  class Iterator {
  public:
    Iterator(const RidRange *range, u32 position) : range_(range), position_(position) {}
    u32 operator*() const { return range_->at(position_); }
    Iterator &operator++() {
      ++position_;
      return *this;
    }
    bool operator==(const Iterator &other) const { return position_ == other.position_; }

  private:
    const RidRange *range_;
    u32 position_;
  };

  RidRange(const Metadata &metadata, Table pointers, u32 first, u32 end)
      : metadata_(&metadata), pointers_(pointers), first_(first), end_(end) {}
  Iterator begin() const { return {this, first_}; }
  Iterator end() const { return {this, end_}; }
  u32 size() const { return end_ - first_; }

private:
  u32 at(u32 position) const;
  const Metadata *metadata_;
  Table pointers_; // FieldPtr or MethodPtr, which reorder rows in uncompressed metadata
  u32 first_, end_;
};

struct ModuleRow {
  std::string_view name;
  Bytes mvid; // 16 bytes, or empty
};
struct TypeDefRow {
  u32 flags; // II.23.1.15
  std::string_view name, name_space;
  Token extends; // TypeDef, TypeRef or TypeSpec; rid 0 = none
};
struct TypeRefRow {
  Token scope; // Module, ModuleRef, AssemblyRef, or TypeRef of the enclosing type
  std::string_view name, name_space;
};
struct FieldRow {
  u16 flags; // II.23.1.5
  std::string_view name;
  Bytes signature;
};
struct MethodDefRow {
  u32 rva;
  u16 flags; // II.23.1.10
  std::string_view name;
  Bytes signature;
};
struct ConstantRow {
  u8 type; // an ELEMENT_TYPE
  Bytes value;
};
struct AssemblyRow {
  std::string_view name;
  std::array<u16, 4> version;
  Bytes public_key; // empty: not signed
};
struct ExportedTypeRow {
  std::string_view name, name_space;
  Token implementation; // File, AssemblyRef, or ExportedType of the enclosing type
};

class Metadata {
public:
  // Nullopt if this is not a metadata root, or has no table stream.
  static std::optional<Metadata> parse(Bytes root);

  std::string_view version() const { return version_; } // "v4.0.30319"
  // Returns a portable PDB's id, 20 bytes: the GUID and the stamp that its module states. Empty for other metadata.
  Bytes pdb_id() const { return slice(pdb_, 0, 20); }
  u32 row_count(Table table) const; // rows whose bytes are there

  // Returns a row or a cell of any table, by row number (from 1) and column number (II.22).
  Bytes row(Table table, u32 rid) const;
  std::optional<u32> column(Table table, u32 rid, unsigned column) const;
  // Returns a column's row number or coded index as a token; rid 0 if null or invalid.
  Token token_column(Table table, u32 rid, unsigned column) const;

  // Read the heaps (II.24.2.3 to 5). A text is cut at 4096 bytes; the runtime loads no type with a name that long.
  std::string_view string(u32 offset) const { return text_at(strings_, offset); }
  Bytes blob(u32 offset) const { return blob_in(blobs_, offset); }
  Bytes guid(u32 index) const; // from 1; 16 bytes
  Bytes user_strings() const { return users_; }
  Bytes user_string(u32 offset) const { return blob_in(users_, offset); } // UTF-16 and a final flag byte

  std::optional<ModuleRow> module() const;
  std::optional<AssemblyRow> assembly() const;
  std::optional<TypeDefRow> type_def(u32 rid) const;
  std::optional<TypeRefRow> type_ref(u32 rid) const;
  std::optional<FieldRow> field(u32 rid) const;
  std::optional<MethodDefRow> method(u32 rid) const;
  // Returns the name of a method's parameter, counted from 1; empty: it has none.
  std::string_view parameter(u32 method_rid, u32 number) const;
  std::optional<ExportedTypeRow> exported_type(u32 rid) const;
  Bytes type_spec(u32 rid) const; // its signature
  std::string_view assembly_ref_name(u32 rid) const;
  std::string_view module_ref_name(u32 rid) const;

  // Ranges of different types never overlap, even in damaged tables, so visiting all members of all types is linear.
  RidRange fields_of(u32 type_rid) const;
  RidRange methods_of(u32 type_rid) const;
  u32 type_of_field(u32 field_rid) const; // 0 = unknown
  u32 type_of_method(u32 method_rid) const;

  u32 enclosing_type(u32 type_rid) const; // 0 = not nested
  // `owner`: TypeDef or MethodDef. A nested type repeats the parameters of its enclosing types. At most 1024.
  u32 generic_parameter_count(Token owner) const;
  std::vector<std::string_view> generic_parameters(Token owner) const; // names in order
  std::optional<ConstantRow> constant(Token parent) const;             // parent: Field, Param or Property

private:
  struct TableLayout {
    u64 offset = 0; // in tables_
    u32 rows = 0;
    u8 row_size = 0;
    std::array<u8, 10> starts{}; // offset of each column, then the row size
  };
  struct FirstUse;

  Metadata();
  bool read_streams(Bytes root, u64 at, unsigned count);
  bool read_tables(Bytes stream, bool wide_rows);
  void add_module_rows(TableSizes &sizes) const;
  static Bytes blob_in(Bytes heap, u32 offset);
  const MemberLists &member_lists(Table member) const;
  const KeyIndex &key_index(Table table) const;

  std::string_view version_;
  Bytes tables_, strings_, users_, blobs_, guids_, pdb_;
  std::array<TableLayout, table_count> layouts_{};
  std::shared_ptr<FirstUse> first_use_; // shared by copies: they read the same bytes
};

} // namespace dnheap
