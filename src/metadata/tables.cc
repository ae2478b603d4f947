#include "metadata/tables.h"

namespace dnheap {

namespace {

using enum Table;
constexpr Column u16_column{ColumnKind::U16}, u32_column{ColumnKind::U32};
constexpr Column string_column{ColumnKind::String}, guid_column{ColumnKind::Guid}, blob_column{ColumnKind::Blob};
constexpr Column rid(Table target) { return {ColumnKind::Rid, target}; }
constexpr Column coded(ColumnKind kind) { return {kind}; }

struct Columns {
  std::array<Column, 9> columns;
  u8 count;
};

template <class... C> constexpr Columns columns(C... column) { return {{column...}, sizeof...(column)}; }

// II.22 and, from Document on, Portable PDB v1.0, in the order of the tables. The two bytes of Constant.Type (a type
// and a zero for padding) count as one u16.
constexpr std::array<Columns, table_count> schema{
    /* Module */ columns(u16_column, string_column, guid_column, guid_column, guid_column),
    /* TypeRef */ columns(coded(ColumnKind::ResolutionScope), string_column, string_column),
    /* TypeDef */
    columns(u32_column, string_column, string_column, coded(ColumnKind::TypeDefOrRef), rid(Field), rid(MethodDef)),
    /* FieldPtr */ columns(rid(Field)),
    /* Field */ columns(u16_column, string_column, blob_column),
    /* MethodPtr */ columns(rid(MethodDef)),
    /* MethodDef */ columns(u32_column, u16_column, u16_column, string_column, blob_column, rid(Param)),
    /* ParamPtr */ columns(rid(Param)),
    /* Param */ columns(u16_column, u16_column, string_column),
    /* InterfaceImpl */ columns(rid(TypeDef), coded(ColumnKind::TypeDefOrRef)),
    /* MemberRef */ columns(coded(ColumnKind::MemberRefParent), string_column, blob_column),
    /* Constant */ columns(u16_column, coded(ColumnKind::HasConstant), blob_column),
    /* CustomAttribute */
    columns(coded(ColumnKind::HasCustomAttribute), coded(ColumnKind::CustomAttributeType), blob_column),
    /* FieldMarshal */ columns(coded(ColumnKind::HasFieldMarshal), blob_column),
    /* DeclSecurity */ columns(u16_column, coded(ColumnKind::HasDeclSecurity), blob_column),
    /* ClassLayout */ columns(u16_column, u32_column, rid(TypeDef)),
    /* FieldLayout */ columns(u32_column, rid(Field)),
    /* StandAloneSig */ columns(blob_column),
    /* EventMap */ columns(rid(TypeDef), rid(Event)),
    /* EventPtr */ columns(rid(Event)),
    /* Event */ columns(u16_column, string_column, coded(ColumnKind::TypeDefOrRef)),
    /* PropertyMap */ columns(rid(TypeDef), rid(Property)),
    /* PropertyPtr */ columns(rid(Property)),
    /* Property */ columns(u16_column, string_column, blob_column),
    /* MethodSemantics */ columns(u16_column, rid(MethodDef), coded(ColumnKind::HasSemantics)),
    /* MethodImpl */
    columns(rid(TypeDef), coded(ColumnKind::MethodDefOrRef), coded(ColumnKind::MethodDefOrRef)),
    /* ModuleRef */ columns(string_column),
    /* TypeSpec */ columns(blob_column),
    /* ImplMap */ columns(u16_column, coded(ColumnKind::MemberForwarded), string_column, rid(ModuleRef)),
    /* FieldRVA */ columns(u32_column, rid(Field)),
    /* EncLog */ columns(u32_column, u32_column),
    /* EncMap */ columns(u32_column),
    /* Assembly */
    columns(u32_column, u16_column, u16_column, u16_column, u16_column, u32_column, blob_column, string_column,
            string_column),
    /* AssemblyProcessor */ columns(u32_column),
    /* AssemblyOS */ columns(u32_column, u32_column, u32_column),
    /* AssemblyRef */
    columns(u16_column, u16_column, u16_column, u16_column, u32_column, blob_column, string_column, string_column,
            blob_column),
    /* AssemblyRefProcessor */ columns(u32_column, rid(AssemblyRef)),
    /* AssemblyRefOS */ columns(u32_column, u32_column, u32_column, rid(AssemblyRef)),
    /* File */ columns(u32_column, string_column, blob_column),
    /* ExportedType */
    columns(u32_column, u32_column, string_column, string_column, coded(ColumnKind::Implementation)),
    /* ManifestResource */ columns(u32_column, u32_column, string_column, coded(ColumnKind::Implementation)),
    /* NestedClass */ columns(rid(TypeDef), rid(TypeDef)),
    /* GenericParam */ columns(u16_column, u16_column, coded(ColumnKind::TypeOrMethodDef), string_column),
    /* MethodSpec */ columns(coded(ColumnKind::MethodDefOrRef), blob_column),
    /* GenericParamConstraint */ columns(rid(GenericParam), coded(ColumnKind::TypeDefOrRef)),
    /* 0x2d to 0x2f mean nothing */ columns(),
    columns(),
    columns(),
    /* Document */ columns(blob_column, guid_column, blob_column, guid_column),
    /* MethodDebugInformation */ columns(rid(Document), blob_column),
    /* LocalScope */
    columns(rid(MethodDef), rid(ImportScope), rid(LocalVariable), rid(LocalConstant), u32_column, u32_column),
    /* LocalVariable */ columns(u16_column, u16_column, string_column),
    /* LocalConstant */ columns(string_column, blob_column),
    /* ImportScope */ columns(rid(ImportScope), blob_column),
    /* StateMachineMethod */ columns(rid(MethodDef), rid(MethodDef)),
    /* CustomDebugInformation */ columns(coded(ColumnKind::HasCustomDebugInformation), guid_column, blob_column),
};

// II.24.2.6
constexpr Table type_def_or_ref[] = {TypeDef, TypeRef, TypeSpec};
constexpr Table has_constant[] = {Field, Param, Property};
constexpr Table has_custom_attribute[] = {MethodDef,        Field,        TypeRef,
                                          TypeDef,          Param,        InterfaceImpl,
                                          MemberRef,        Module,       DeclSecurity,
                                          Property,         Event,        StandAloneSig,
                                          ModuleRef,        TypeSpec,     Assembly,
                                          AssemblyRef,      File,         ExportedType,
                                          ManifestResource, GenericParam, GenericParamConstraint,
                                          MethodSpec};
constexpr Table has_field_marshal[] = {Field, Param};
constexpr Table has_decl_security[] = {TypeDef, MethodDef, Assembly};
constexpr Table member_ref_parent[] = {TypeDef, TypeRef, ModuleRef, MethodDef, TypeSpec};
constexpr Table has_semantics[] = {Event, Property};
constexpr Table method_def_or_ref[] = {MethodDef, MemberRef};
constexpr Table member_forwarded[] = {Field, MethodDef};
constexpr Table implementation[] = {File, AssemblyRef, ExportedType};
constexpr Table custom_attribute_type[] = {no_table, no_table, MethodDef, MemberRef};
constexpr Table resolution_scope[] = {Module, ModuleRef, AssemblyRef, TypeRef};
constexpr Table type_or_method_def[] = {TypeDef, MethodDef};
constexpr Table has_custom_debug_information[] = {MethodDef,        Field,         TypeRef,
                                                  TypeDef,          Param,         InterfaceImpl,
                                                  MemberRef,        Module,        DeclSecurity,
                                                  Property,         Event,         StandAloneSig,
                                                  ModuleRef,        TypeSpec,      Assembly,
                                                  AssemblyRef,      File,          ExportedType,
                                                  ManifestResource, GenericParam,  GenericParamConstraint,
                                                  MethodSpec,       Document,      LocalScope,
                                                  LocalVariable,    LocalConstant, ImportScope};

} // namespace

std::span<const Column> columns_of(Table table) {
  const Columns &row = schema[static_cast<unsigned>(table)];
  return {row.columns.data(), row.count};
}

CodedIndex coded_index(ColumnKind kind) {
  switch (kind) {
  case ColumnKind::TypeDefOrRef: return {2, type_def_or_ref};
  case ColumnKind::HasConstant: return {2, has_constant};
  case ColumnKind::HasCustomAttribute: return {5, has_custom_attribute};
  case ColumnKind::HasFieldMarshal: return {1, has_field_marshal};
  case ColumnKind::HasDeclSecurity: return {2, has_decl_security};
  case ColumnKind::MemberRefParent: return {3, member_ref_parent};
  case ColumnKind::HasSemantics: return {1, has_semantics};
  case ColumnKind::MethodDefOrRef: return {1, method_def_or_ref};
  case ColumnKind::MemberForwarded: return {1, member_forwarded};
  case ColumnKind::Implementation: return {2, implementation};
  case ColumnKind::CustomAttributeType: return {3, custom_attribute_type};
  case ColumnKind::ResolutionScope: return {2, resolution_scope};
  case ColumnKind::TypeOrMethodDef: return {1, type_or_method_def};
  case ColumnKind::HasCustomDebugInformation: return {5, has_custom_debug_information};
  default: return {0, {}};
  }
}

unsigned column_width(Column column, const TableSizes &sizes) {
  auto width = [&](bool wide) { return wide || sizes.wide_rows ? 4u : 2u; };
  auto rows = [&](Table table) { return table == no_table ? 0 : sizes.rows[static_cast<unsigned>(table)]; };
  switch (column.kind) {
  case ColumnKind::U16: return 2;
  case ColumnKind::U32: return 4;
  case ColumnKind::String: return width(sizes.wide_strings);
  case ColumnKind::Guid: return width(sizes.wide_guids);
  case ColumnKind::Blob: return width(sizes.wide_blobs);
  case ColumnKind::Rid: return width(rows(column.target) > 0xffff);
  default: break;
  }
  // A coded index is wide if the row count of its largest table does not fit beside the tag.
  CodedIndex coded = coded_index(column.kind);
  bool wide = false;
  for (Table table : coded.tables)
    wide = wide || rows(table) > 0xffffu >> coded.tag_bits;
  return width(wide);
}

} // namespace dnheap
