#include "analysis/findings/cause.h"

#include "analysis/owners/ranked_tree.h"
#include "objects/object_index.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 least_of_live = 10, least_of_suspect = 5; // one part in this many bytes

class Causes {
public:
  explicit Causes(const Snapshot &snapshot)
      : snapshot_(snapshot), ranked_(ranked_tree(snapshot)), tree_(ranked_->tree) {}

  bool explains(const Finding &finding, const Suspect &suspect) const {
    const std::optional<TreePlace> at = place(finding.holder ? finding.holder : finding.example);
    if (!at || bytes_of(finding, *at) < suspect.retained / least_of_suspect)
      return false;
    return (finding.holder && is_on_way(finding.holder, suspect)) || is_held(*at, suspect);
  }

private:
  std::optional<TreePlace> place(Address address) const {
    const ObjectId object = address ? snapshot_.index().find(address) : no_object;
    return object == no_object ? std::nullopt : tree_.place(object);
  }

  // Returns how much the finding's objects hold; of several objects one is known.
  u64 bytes_of(const Finding &finding, TreePlace at) const {
    const u64 one = tree_.retained(at).bytes, most = tree_.reached().bytes;
    if (finding.holder)
      return one;
    return std::max(finding.bytes, finding.count && one > most / finding.count ? most : one * finding.count);
  }

  static bool is_on_way(Address address, const Suspect &suspect) {
    return std::any_of(suspect.steps.begin(), suspect.steps.end(),
                       [&](const Suspect::Step &step) { return step.address == address; });
  }

  bool is_held(TreePlace at, const Suspect &suspect) const {
    if (!suspect.steps.empty()) {
      const std::optional<TreePlace> top = place(suspect.example);
      return top && *top <= at && at < tree_.end(*top);
    }
    for (; at != TreePlace{0}; at = tree_.parent(at)) // objects that an owner holds one by one
      if (const std::optional<OwnerId> owner = tree_.owner(at))
        return ranked_->owners[*owner].name == suspect.owner;
    return false;
  }

  const Snapshot &snapshot_;
  const std::shared_ptr<const RankedTree> ranked_;
  const DominatorTree &tree_;
};

} // namespace

void find_causes(const Snapshot &snapshot, const Suspects &suspects, std::vector<Finding> &findings) {
  if (findings.empty() || suspects.list.empty())
    return;
  const Causes causes(snapshot);
  for (Finding &finding : findings)
    finding.is_cause = std::any_of(suspects.list.begin(), suspects.list.end(), [&](const Suspect &suspect) {
      return suspect.retained >= suspects.live_bytes / least_of_live && causes.explains(finding, suspect);
    });
}

} // namespace dnheap
