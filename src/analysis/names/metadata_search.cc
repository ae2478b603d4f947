#include "analysis/names/metadata_search.h"

#include "base/error.h"
#include "base/text.h"
#include "metadata/signature.h"
#include "metadata/type_name.h"

#include <algorithm>

namespace dnheap {

namespace {

// True for "Cart" in "Shop.Cart" and in "Shop.Basket+Cart".
bool ends_in_part(std::string_view name, std::string_view part) {
  return name.size() > part.size() && name.ends_with(part) &&
         (name[name.size() - part.size() - 1] == '.' || name[name.size() - part.size() - 1] == '+');
}

// Exact names first; the order is kept otherwise.
template <class Item, class IsExact> void sort_exact_first(std::vector<Item> &items, IsExact is_exact, u64 most) {
  std::ranges::stable_partition(items, is_exact);
  items.resize(std::min<u64>(items.size(), most));
}

bool is_type_called(const std::string &full_name, std::string_view wanted) {
  if (full_name == wanted || ends_in_part(full_name, wanted))
    return true;
  const std::string plain = without_arity_marks(full_name);
  return plain == wanted || ends_in_part(plain, wanted);
}

} // namespace

MetadataSearch::MetadataSearch(const Runtime &runtime) : il_(runtime.il_code()) {
  if (!il_)
    return;
  try {
    modules_ = il_->modules(problems_);
  } catch (const Error &e) {
    problems_.add(Subject::modules, Effect::numbers,
                  "the loaded modules are unknown, so nothing is searched by name: ", e);
    il_.reset();
  }
}

template <class Use> void MetadataSearch::for_each_type(Address module, Use use) const {
  for (Address one : modules_) {
    const Metadata *metadata = module == 0 || module == one ? il_->metadata(one) : nullptr;
    for (u32 row = 1; metadata && row <= metadata->row_count(Table::TypeDef); ++row)
      if (!use(*metadata, one, row))
        return;
  }
}

std::vector<DescribedType> MetadataSearch::types_called(std::string_view name, Address module, u64 most) const {
  std::vector<DescribedType> out;
  const std::string_view last = name.substr(name.find_last_of(".+") + 1); // a cheap first look
  for_each_type(module, [&](const Metadata &metadata, Address of, u32 row) {
    const std::optional<TypeDefRow> type = metadata.type_def(row);
    if (!type || !type->name.starts_with(last.substr(0, last.find('`'))))
      return true;
    std::string full = type_name(metadata, token(Table::TypeDef, row));
    if (is_type_called(full, name))
      out.push_back({of, row, std::move(full)});
    return true;
  });
  sort_exact_first(
      out, [&](const DescribedType &type) { return type.name == name || without_arity_marks(type.name) == name; },
      most);
  return out;
}

DescribedMethod MetadataSearch::described(const Metadata &metadata, Address module, u32 type_row,
                                          u32 method_row) const {
  DescribedMethod out{module, method_row, type_name(metadata, token(Table::TypeDef, type_row)), {}};
  const std::optional<MethodDefRow> row = metadata.method(method_row);
  if (!row)
    return out;
  out.name = std::string(row->name);
  if (const std::optional<MethodSignature> signature = decode_method(row->signature))
    out.name += describe_parameters(*signature, metadata, {type_row, method_row});
  return out;
}

std::vector<DescribedMethod> MetadataSearch::methods_called(std::string_view name, Address module, u64 most) const {
  std::size_t dot = name.rfind('.');
  if (dot != name.npos && dot > 0 && name[dot - 1] == '.') // "Shop.Cart..ctor"
    --dot;
  if (dot == name.npos || dot == 0)
    return {};
  const std::string_view type = name.substr(0, dot), method = name.substr(dot + 1);
  std::vector<DescribedMethod> out;
  for (const DescribedType &one : types_called(type, module, most)) {
    const Metadata &metadata = *il_->metadata(one.module);
    for (u32 row : metadata.methods_of(one.row))
      if (const std::optional<MethodDefRow> found = metadata.method(row); found && found->name == method)
        out.push_back(described(metadata, one.module, one.row, row));
  }
  out.resize(std::min<u64>(out.size(), most));
  return out;
}

std::vector<DescribedMethod> MetadataSearch::methods_of(const DescribedType &type, u64 most) const {
  std::vector<DescribedMethod> out;
  const Metadata *metadata = il_ ? il_->metadata(type.module) : nullptr;
  if (!metadata)
    return out;
  for (u32 row : metadata->methods_of(type.row)) {
    if (out.size() == most)
      break;
    out.push_back(described(*metadata, type.module, type.row, row));
  }
  return out;
}

std::vector<DescribedType> MetadataSearch::types_of(Address module, u64 most) const {
  std::vector<DescribedType> out;
  for_each_type(module, [&](const Metadata &metadata, Address of, u32 row) {
    out.push_back({of, row, type_name(metadata, token(Table::TypeDef, row))});
    return out.size() < most;
  });
  return out;
}

std::optional<DescribedType> MetadataSearch::type_of(Address method_table) const {
  if (!il_)
    return std::nullopt;
  return type_at(il_->module_of(method_table), token(Table::TypeDef, il_->row_of_type(method_table)));
}

std::optional<DescribedType> MetadataSearch::type_at(Address module, u32 wanted) const {
  const Metadata *metadata = il_ && module ? il_->metadata(module) : nullptr;
  const u32 row = rid_of(wanted);
  if (!metadata || table_of(wanted) != Table::TypeDef || !metadata->type_def(row))
    return std::nullopt;
  return DescribedType{module, row, type_name(*metadata, token(Table::TypeDef, row))};
}

std::optional<DescribedMethod> MetadataSearch::method_at(Address module, u32 wanted) const {
  const Metadata *metadata = il_ && module ? il_->metadata(module) : nullptr;
  const u32 row = rid_of(wanted);
  if (!metadata || table_of(wanted) != Table::MethodDef || !metadata->method(row))
    return std::nullopt;
  return described(*metadata, module, metadata->type_of_method(row), row);
}

std::optional<DescribedMethod> MetadataSearch::method_of(Address method_desc) const {
  const std::optional<MetadataRow> row = il_ ? il_->find_method(method_desc) : std::nullopt;
  if (!row || !row->module || !row->row)
    return std::nullopt;
  return method_at(row->module, token(Table::MethodDef, row->row));
}

} // namespace dnheap
