#include "analysis/inspectors/kept_disposables.h"

#include "analysis/inspectors/service_scopes.h"
#include "analysis/shapes/field_reader.h"
#include "analysis/shapes/typed_objects.h"
#include "objects/object_index.h"
#include "objects/references.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace dnheap {

namespace {

class KeptDisposablesReader {
public:
  explicit KeptDisposablesReader(const Snapshot &snapshot)
      : snapshot_(snapshot), fields_(snapshot.runtime()), references_(snapshot.references()),
        pointer_size_(fields_.pointer_size()) {}

  void add(Address scope) {
    const std::optional<u8> is_root = fields_.number<u8>(scope, "<IsRootScope>k__BackingField");
    const Address list = fields_.reference_or_null(scope, "_disposables");
    // Only in a damaged heap two scopes share one list.
    if (!is_root || !list || !lists_.insert(list).second)
      return;
    std::map<Address, u64> in_scope; // by type
    const Address items = fields_.reference_or_null(list, "_items");
    const u64 size = std::min(fields_.number<u32>(list, "_size").value_or(0), fields_.length(items).value_or(0));
    for (u64 i = 0; items && i < size; ++i) {
      if (i % 4096 == 0)
        snapshot_.watch().check();
      const std::optional<u64> object = fields_.memory().try_pointer(items + (2 + i) * pointer_size_);
      if (!object)
        break;
      if (*object && snapshot_.index().is_object(*object))
        ++in_scope[add_object(*object, *is_root)];
    }
    for (const auto &[type, count] : in_scope)
      add_scope(kept_[{type, *is_root != 0}], scope, count);
  }

  std::vector<KeptDisposables> found() {
    std::vector<KeptDisposables> out;
    for (auto &[key, kept] : kept_) {
      kept.type = snapshot_.runtime().types().name(key.first);
      kept.kind = key.second ? "root" : "scope";
      out.push_back(kept);
    }
    std::ranges::stable_sort(out, std::greater(), &KeptDisposables::count);
    return out;
  }

private:
  // Returns the object's type.
  Address add_object(Address object, bool is_root) {
    const Address type = fields_.type_of(object);
    OpenedObject opened;
    if (objects_.insert(object).second && references_.open(object, opened))
      kept_[{type, is_root}].bytes += align_up(opened.size, pointer_size_);
    return type;
  }

  static void add_scope(KeptDisposables &to, Address scope, u64 count) {
    to.count += count;
    ++to.scopes;
    if (count > to.most)
      to.most = count, to.largest = scope;
  }

  const Snapshot &snapshot_;
  FieldReader fields_;
  ReferenceReader references_;
  const u64 pointer_size_;
  std::map<std::pair<Address, bool>, KeptDisposables> kept_; // by type, and whether the root scope keeps them
  std::unordered_set<Address> lists_, objects_;
};

} // namespace

std::vector<KeptDisposables> find_kept_disposables(const Snapshot &snapshot) {
  KeptDisposablesReader reader(snapshot);
  for (const TypedObject &scope : objects_called(snapshot, service_scope))
    reader.add(scope.address);
  return reader.found();
}

} // namespace dnheap
