// A thread static field of the program that holds much memory because many threads have one each: `report` lists each
// thread's as an owner of its own.
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
#include <set>

namespace dnheap {

namespace {

constexpr u64 least_threads = 4;             // with fewer the list of owners is short enough
constexpr double least_field_share = 0.1;    // of live memory,
constexpr u64 least_field_bytes = 16 << 20;  // and enough to matter: a buffer for each thread is usual
constexpr double probable_field_share = 0.3; // whoever looks for memory looks there first

struct ThreadField {
  std::set<u32> threads;
  std::vector<Address> objects;
};

// Fields that .NET declares are caches whose size a program cannot change, such as those of ArrayPool.
std::map<std::string, ThreadField> thread_fields(const Snapshot &snapshot) {
  const RootSet &roots = snapshot.roots();
  const FrameworkNames framework(snapshot.assemblies());
  std::map<std::string, ThreadField> out; // by name; each thread's field has an index of its own
  for (const Root &root : roots.roots)
    if (root.kind == RootKind::thread_static && root.name && root.thread) {
      ThreadField &field = out[roots.name(root)];
      field.threads.insert(root.thread);
      field.objects.push_back(root.object);
    }
  std::erase_if(
      out, [&](const auto &one) { return one.second.threads.size() < least_threads || framework.contain(one.first); });
  return out;
}

} // namespace

void find_thread_statics(const Evidence &evidence, std::vector<Finding> &out) {
  const Snapshot &snapshot = evidence.snapshot;
  const std::map<std::string, ThreadField> fields = thread_fields(snapshot);
  if (fields.empty())
    return;
  const std::shared_ptr<const RankedTree> ranked = ranked_tree(snapshot);
  for (const auto &[name, field] : fields) {
    const u64 bytes = retained_together(snapshot, ranked->tree, field.objects).bytes;
    const double share = share_of(bytes, evidence.facts.live);
    if (bytes < least_field_bytes || share < least_field_share)
      continue;
    out.push_back(
        {.kind = "thread_statics",
         .harm = Harm::memory,
         .sureness = share >= probable_field_share ? Sureness::probable : Sureness::possible,
         .text = fmt::format("Thread static {} of {} threads holds {} ({:.0f} % of live memory). Each thread has its "
                             "own, until it ends: clear it after the work, or share what it holds.",
                             name, count_text(field.threads.size()), bytes_text(bytes), 100 * share),
         .count = field.threads.size(),
         .bytes = bytes,
         .example = field.objects.front(),
         .verb = "roots"});
  }
}

} // namespace dnheap
