// A static field of a generic type that holds much memory because many types of it have one each: `report` lists each
// type's as an owner of its own.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/framework_names.h"
#include "analysis/owners/ranked_tree.h"
#include "analysis/owners/retained_together.h"
#include "base/share.h"
#include "base/text.h"
#include "objects/roots.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace dnheap {

namespace {

constexpr u64 least_instantiations = 4;        // with fewer the list of owners is short enough
constexpr double least_generic_share = 0.1;    // of live memory,
constexpr u64 least_generic_bytes = 16 << 20;  // and enough to matter: a small cache for each type is usual
constexpr double probable_generic_share = 0.3; // whoever looks for memory looks there first

struct GenericField {
  std::map<std::string, std::vector<Address>> objects; // by the field's whole name
};

// Returns "Shop.Rows<,>.All" for "Shop.Rows<System.Int32, Shop.Cart>.All"; empty if the field's type is not generic.
// Names that compilers make up have brackets, too, but after no letter of a name, or empty ones.
std::string name_without_arguments(std::string_view name) {
  std::string out;
  u64 depth = 0;
  bool is_generic = false;
  for (u64 i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool opens =
        c == '<' &&
        (depth || (i && name[i - 1] != '.' && name[i - 1] != '+' && i + 1 < name.size() && name[i + 1] != '>'));
    if (depth == 0 || (depth == 1 && (c == '>' || c == ',')))
      out += c;
    depth += opens;
    is_generic |= opens;
    if (c == '>' && depth)
      --depth;
  }
  return is_generic && !depth ? out : "";
}

// Fields that .NET declares are caches whose size a program cannot change, such as those of comparers.
std::map<std::string, GenericField> generic_fields(const Snapshot &snapshot) {
  const RootSet &roots = snapshot.roots();
  const FrameworkNames framework(snapshot.assemblies());
  std::map<std::string, GenericField> out;
  for (const Root &root : roots.roots)
    if (root.kind == RootKind::static_field && root.name)
      if (const std::string name = name_without_arguments(roots.name(root)); !name.empty())
        out[name].objects[roots.name(root)].push_back(root.object);
  std::erase_if(out, [&](const auto &one) {
    return one.second.objects.size() < least_instantiations || framework.contain(one.first);
  });
  return out;
}

} // namespace

void find_generic_statics(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const std::map<std::string, GenericField> fields = generic_fields(snapshot);
  if (fields.empty())
    return;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  for (const auto &[name, field] : fields) {
    std::vector<Address> all;
    u64 largest = 0;
    for (const auto &[whole, objects] : field.objects) {
      all.insert(all.end(), objects.begin(), objects.end());
      largest = std::max(largest, retained_together(snapshot, ranked->tree, objects).bytes);
    }
    const u64 bytes = retained_together(snapshot, ranked->tree, all).bytes;
    const double share = share_of(bytes, evidence.facts.live);
    if (bytes < least_generic_bytes || share < least_generic_share || largest * 2 > bytes) // then it stands alone
      continue;
    out.push_back(
        {.kind = "generic_statics",
         .harm = Harm::memory,
         .sureness = share >= probable_generic_share ? Sureness::probable : Sureness::possible,
         .text = fmt::format("Static {} holds {} ({:.0f} % of live memory) in {} types that differ in their type "
                             "arguments. Each type has a field of its own: put a limit on all of them together.",
                             name, bytes_text(bytes), 100 * share, count_text(field.objects.size())),
         .count = field.objects.size(),
         .bytes = bytes,
         .example = all.front(),
         .verb = "roots"});
  }
}

} // namespace dnheap
