// The columns of the ECMA-335 metadata tables (II.22) and their widths for given row counts. Constant data and one
// small computation; reads no bytes of the target. Used by Metadata, and by tests that write metadata. Any thread.
#pragma once
#include "base/integers.h"

#include <array>
#include <span>

namespace dnheap {

// The tables of II.22, then those of uncompressed metadata (#-), which II.22 omits: ...Ptr and Enc..., and from
// Document on those of portable PDBs, which never occur in loaded modules.
enum class Table : u8 {
  Module = 0x00,
  TypeRef = 0x01,
  TypeDef = 0x02,
  FieldPtr = 0x03,
  Field = 0x04,
  MethodPtr = 0x05,
  MethodDef = 0x06,
  ParamPtr = 0x07,
  Param = 0x08,
  InterfaceImpl = 0x09,
  MemberRef = 0x0a,
  Constant = 0x0b,
  CustomAttribute = 0x0c,
  FieldMarshal = 0x0d,
  DeclSecurity = 0x0e,
  ClassLayout = 0x0f,
  FieldLayout = 0x10,
  StandAloneSig = 0x11,
  EventMap = 0x12,
  EventPtr = 0x13,
  Event = 0x14,
  PropertyMap = 0x15,
  PropertyPtr = 0x16,
  Property = 0x17,
  MethodSemantics = 0x18,
  MethodImpl = 0x19,
  ModuleRef = 0x1a,
  TypeSpec = 0x1b,
  ImplMap = 0x1c,
  FieldRVA = 0x1d,
  EncLog = 0x1e,
  EncMap = 0x1f,
  Assembly = 0x20,
  AssemblyProcessor = 0x21,
  AssemblyOS = 0x22,
  AssemblyRef = 0x23,
  AssemblyRefProcessor = 0x24,
  AssemblyRefOS = 0x25,
  File = 0x26,
  ExportedType = 0x27,
  ManifestResource = 0x28,
  NestedClass = 0x29,
  GenericParam = 0x2a,
  MethodSpec = 0x2b,
  GenericParamConstraint = 0x2c,
  Document = 0x30,
  MethodDebugInformation = 0x31,
  LocalScope = 0x32,
  LocalVariable = 0x33,
  LocalConstant = 0x34,
  ImportScope = 0x35,
  StateMachineMethod = 0x36,
  CustomDebugInformation = 0x37,
};
inline constexpr unsigned table_count = 0x38;
inline constexpr unsigned type_table_count = 0x2d; // those of modules
inline constexpr u32 max_rows = 0xffffff;          // a row number fills the low 24 bits of a token

// A row number (rid, from 1; 0 = none) together with its table in the high byte (II.22).
using Token = u32;
constexpr Token token(Table table, u32 rid) { return static_cast<u32>(table) << 24 | (rid & max_rows); }
constexpr Table table_of(Token token) { return static_cast<Table>(token >> 24); }
constexpr u32 rid_of(Token token) { return token & max_rows; }

// The content of a column: a number, an offset into a heap, a row number, or a coded index (II.24.2.6).
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
  HasCustomDebugInformation,
};

struct Column {
  ColumnKind kind;
  Table target = Table::Module; // of a Rid
};

// The encoding of a coded index: the low `tag_bits` choose the table, the rest is the row number.
struct CodedIndex {
  u8 tag_bits;
  std::span<const Table> tables; // by tag; no_table for tags without meaning
};
inline constexpr Table no_table{0xff};

std::span<const Column> columns_of(Table table);
// Only for kinds from TypeDefOrRef on.
CodedIndex coded_index(ColumnKind kind);

// All data that determines a column's width. For a portable PDB the rows include those of its module.
struct TableSizes {
  std::array<u32, table_count> rows{};
  bool wide_strings = false, wide_guids = false, wide_blobs = false;
  bool wide_rows = false; // a minimal delta (stream #JTD): every index takes four bytes
};

unsigned column_width(Column column, const TableSizes &sizes); // 2 or 4

} // namespace dnheap
