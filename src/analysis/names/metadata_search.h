// MetadataSearch: the types and methods that the metadata of the loaded modules describes, by name or token, whether
// there are objects of them or not. A search by name goes over all rows: some ms per large module. Not for several
// threads at once; the Runtime must outlive it.
#pragma once
#include "runtime/facts/il_code.h"
#include "runtime/runtime.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct DescribedType {
  Address module = 0;
  u32 row = 0;
  std::string name; // Namespace.Outer`1+Inner
};

struct DescribedMethod {
  Address module = 0;
  u32 row = 0;
  std::string type, name; // "Shop.Cart", "Add(Int32)"
};

class MetadataSearch {
public:
  explicit MetadataSearch(const Runtime &runtime);

  // False if the runtime has no metadata, as it was compiled ahead of time, or if the modules are unknown.
  bool can_search() const { return il_ != nullptr; }
  // Why modules are missing, so that names in them are not found.
  const Notes &problems() const { return problems_; }
  const std::vector<Address> &modules() const { return modules_; }
  std::string file_name(Address module) const { return il_ ? il_->file_name(module) : ""; }
  // `module`: only there; 0: everywhere. Those that have exactly that name come before those that have it without
  // namespace. At most `most`.
  std::vector<DescribedType> types_called(std::string_view name, Address module, u64 most) const;
  // `name`: "Shop.Cart.Add"
  std::vector<DescribedMethod> methods_called(std::string_view name, Address module, u64 most) const;
  std::vector<DescribedMethod> methods_of(const DescribedType &type, u64 most) const;
  std::vector<DescribedType> types_of(Address module, u64 most) const;
  // The type that a MethodTable is of; nullopt: an array, or unknown.
  std::optional<DescribedType> type_of(Address method_table) const;
  // By a token such as 0x02000003 or 0x06000001; nullopt: no such row.
  std::optional<DescribedType> type_at(Address module, u32 token) const;
  std::optional<DescribedMethod> method_at(Address module, u32 token) const;
  // The row that describes a method; nullopt: none.
  std::optional<DescribedMethod> method_of(Address method_desc) const;

private:
  DescribedMethod described(const Metadata &metadata, Address module, u32 type_row, u32 method_row) const;
  template <class Use> void for_each_type(Address module, Use use) const;

  std::unique_ptr<IlCode> il_;
  std::vector<Address> modules_;
  Notes problems_;
};

} // namespace dnheap
