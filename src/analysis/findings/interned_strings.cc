// Strings that only the runtime's table of interned strings keeps: string.Intern adds to it, and nothing ever removes
// from it. The table lies in native memory; it refers to elements of arrays, Object[] in the pinned object heap, which
// strong handles hold. Literals of code lie in frozen segments instead, except for those of collectible assemblies.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/program_callers.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/shapes/field_reader.h"
#include "base/text.h"
#include "objects/object_index.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace dnheap {

namespace {

// What compilers, serializers and a program's own configuration intern are some thousands of names.
constexpr u64 least_interned = 10'000;
constexpr u64 least_interned_bytes = 16 << 20;
constexpr u64 most_elements_of_array = 1 << 20; // the runtime's arrays have fewer than 2^17

// Returns the runtime's arrays of pinned references that hold no static fields.
std::set<Address> arrays_of_literals(const Snapshot &snapshot) {
  const Runtime &runtime = snapshot.runtime();
  const FieldReader fields(runtime);
  std::set<Address> out;
  for (const Root &root : snapshot.roots().roots)
    if (root.kind == RootKind::handle && root.handle == HandleType::strong && !snapshot.roots().is_holder(root.object))
      if (const Address type = fields.type_of(root.object);
          type && runtime.types().object_layout(type) && runtime.types().name(type) == "System.Object[]")
        out.insert(root.object);
  if (out.empty())
    return out;
  std::erase_if(out, [&](Address array) {
    return std::ranges::none_of(snapshot.heap().ranges(), [&](const ObjectRange &range) {
      return range.generation == GCSegmentGeneration::poh && array >= range.address && array < range.end();
    });
  });
  return out;
}

struct InternedStrings {
  u64 count = 0, bytes = 0;
  Address first = 0;
};

// Adds the strings in the array that nothing else holds.
void add_interned(const Snapshot &snapshot, const DominatorTree &tree, Address array, InternedStrings &to) {
  const Runtime &runtime = snapshot.runtime();
  const FieldReader fields(runtime);
  const ObjectId number = snapshot.index().find(array);
  const std::optional<TreePlace> holder = number != no_object ? tree.place(number) : std::nullopt;
  if (!holder)
    return;
  Address string_type = 0;
  for (const Address one : fields.elements(array, most_elements_of_array)) {
    const ObjectId id = one ? snapshot.index().find(one) : no_object;
    const std::optional<TreePlace> at = id != no_object ? tree.place(id) : std::nullopt;
    if (!at || tree.parent(*at) != *holder)
      continue;
    const Address type = fields.type_of(one);
    if (type != string_type && runtime.types().name(type) != "System.String")
      continue;
    string_type = type;
    ++to.count;
    to.bytes += tree.own_bytes(*at);
    to.first = to.first ? to.first : one;
  }
}

// "; Shop.Names.Read calls it"; empty: unknown.
std::string interning_text(const Snapshot &snapshot) {
  const std::vector<ProgramCaller> callers =
      first_run(find_callers(*ProgramIl::of(snapshot), [](std::string_view type, std::string_view method, IlUse) {
        return type == "System.String" && method == "Intern";
      }));
  return callers.empty() ? ""
                         : fmt::format("; {} {} it", callers_text(callers), callers.size() == 1 ? "calls" : "call");
}

} // namespace

void find_interned_strings(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const std::set<Address> arrays = arrays_of_literals(snapshot);
  if (arrays.empty())
    return;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  InternedStrings found;
  for (const Address array : arrays)
    add_interned(snapshot, ranked->tree, array, found);
  if (found.count < least_interned && found.bytes < least_interned_bytes)
    return;
  out.push_back(
      {.kind = "interned_strings",
       .harm = found.bytes < least_interned_bytes ? Harm::resource : Harm::memory,
       .text = fmt::format("{} strings ({}) are interned, and nothing else holds them: string.Intern keeps "
                           "each until the process ends{}. Intern only strings of which there are few, or keep "
                           "them in a table of your own that lets go of them.",
                           count_text(found.count), bytes_text(found.bytes), interning_text(snapshot)),
       .count = found.count,
       .bytes = found.bytes,
       .example = found.first,
       .verb = "path",
       .options = " " + hex(found.first)});
}

} // namespace dnheap
