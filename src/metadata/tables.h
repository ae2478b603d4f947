// The shape of the ECMA-335 metadata tables (II.22): which columns each has, and how wide they are for given row
// counts. Constant data and one small computation; no bytes of the target are read here. Used by Metadata, and by tests
// that write metadata. Any thread.
#pragma once
#include "base/integers.h"

#include <array>
#include <span>

namespace dnheap {

// Numbered as in II.22. The tables of portable PDBs (0x30 and up) never occur in loaded modules.
enum class Table : u8 {
  Module,
  TypeRef,
  TypeDef,
  FieldPtr,
  Field,
  MethodPtr,
  MethodDef,
  ParamPtr,
  Param,
  InterfaceImpl,
  MemberRef,
  Constant,
  CustomAttribute,
  FieldMarshal,
  DeclSecurity,
  ClassLayout,
  FieldLayout,
  StandAloneSig,
  EventMap,
  EventPtr,
  Event,
  PropertyMap,
  PropertyPtr,
  Property,
  MethodSemantics,
  MethodImpl,
  ModuleRef,
  TypeSpec,
  ImplMap,
  FieldRVA,
  EncLog,
  EncMap,
  Assembly,
  AssemblyProcessor,
  AssemblyOS,
  AssemblyRef,
  AssemblyRefProcessor,
  AssemblyRefOS,
  File,
  ExportedType,
  ManifestResource,
  NestedClass,
  GenericParam,
  MethodSpec,
  GenericParamConstraint,
};
inline constexpr unsigned table_count = 0x2d;
inline constexpr u32 max_rows = 0xffffff; // a row number fills the low 24 bits of a token

// A row number (rid, from 1; 0 = none) together with its table in the high byte (II.22).
using Token = u32;
constexpr Token token(Table table, u32 rid) { return static_cast<u32>(table) << 24 | (rid & max_rows); }
constexpr Table table_of(Token token) { return static_cast<Table>(token >> 24); }
constexpr u32 rid_of(Token token) { return token & max_rows; }

// What a column holds: a number, an offset into a heap, a row number, or a coded index (II.24.2.6).
enum class ColumnKind : u8 {
  U16,
  U32,
  String,
  Guid,
  Blob,
  Rid,
  TypeDefOrRef,
  HasConstant,
  HasCustomAttribute,
  HasFieldMarshal,
  HasDeclSecurity,
  MemberRefParent,
  HasSemantics,
  MethodDefOrRef,
  MemberForwarded,
  Implementation,
  CustomAttributeType,
  ResolutionScope,
  TypeOrMethodDef,
};

struct Column {
  ColumnKind kind;
  Table target = Table::Module; // of a Rid
};

// How a coded index is built: the low `tag_bits` choose the table, the rest is the row number.
struct CodedIndex {
  u8 tag_bits;
  std::span<const Table> tables; // by tag; no_table where a tag has no meaning
};
inline constexpr Table no_table{0xff};

std::span<const Column> columns_of(Table table);
// Only for kinds from TypeDefOrRef on.
CodedIndex coded_index(ColumnKind kind);

// Everything that decides a column's width.
struct TableSizes {
  std::array<u32, table_count> rows{};
  bool wide_strings = false, wide_guids = false, wide_blobs = false;
  bool wide_rows = false; // a minimal delta (stream #JTD): every index takes four bytes
};

unsigned column_width(Column column, const TableSizes &sizes); // 2 or 4

} // namespace dnheap
