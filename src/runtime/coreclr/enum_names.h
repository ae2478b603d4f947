// EnumNames: names of enum values, from the metadata of the assemblies that define them: fields of CoreCLR's types;
// NativeAOT programs have no such metadata. Each enum is read once and kept. Not for several threads at once.
#pragma once
#include "runtime/coreclr/types/type_lookup.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dnheap {

class CoreClr;
class Runtime;

class EnumNames {
public:
  // `runtime` may be of any kind.
  explicit EnumNames(const Runtime &runtime);

  // Names a value by the enum's own MethodTable: for boxed enums and for an array's elements. Empty: no enum, or no
  // such value. Several flags: "Read | Write".
  std::string text(Address enum_type, u64 value);
  // Names a value of the enum that is the type of this field.
  std::string text(Address declaring_type, const std::string &field, u64 value);

private:
  using Members = std::vector<std::pair<u64, std::string>>; // by value

  const Members &members(Address enum_type);
  Address enum_of(Address declaring_type, const std::string &field);

  const CoreClr *runtime_; // null: another kind of runtime
  std::unique_ptr<TypeLookup> lookup_;
  std::map<Address, Members> members_;
  std::map<std::pair<Address, std::string>, Address> enums_;
};

} // namespace dnheap
