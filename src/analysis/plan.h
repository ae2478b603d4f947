// Plan: the work that a question needs, as its verb's row predicts it: passes that ask() prepares before the verb
// begins, passes of the verb itself, and passes that are only needed if something is wrong with the dump. If a Snapshot
// has to do any other pass for the verb, the verb's row is wrong (Snapshot::foresee, test/analysis/plan_test.cc).
#pragma once
#include "analysis/question.h"
#include "snapshot/pass.h"

#include <string_view>
#include <vector>

namespace dnheap {

class Plan {
public:
  Plan() = default;
  // `first`: the passes that ask() prepares.
  explicit Plan(Passes first) { then(first), first_ = first; }

  // Adds passes that the verb asks for when it knows more, for example about its subject.
  Plan &then(Passes passes);
  // Adds a pass that the verb does itself, by its name in Progress.
  Plan &then(std::string_view own);
  // Adds passes that few questions of this kind need.
  Plan &perhaps(Passes passes);
  Plan &perhaps(std::string_view own);

  Passes first() const { return first_; }
  // Returns all passes that may be asked of the Snapshot.
  Passes foreseen() const { return with_foundations(certain_ | perhaps_); }
  // Returns the passes that are certainly needed.
  Passes certain() const { return with_foundations(certain_); }
  // Returns the names of the certain passes in their order. Results are kept, so each is listed once.
  const std::vector<std::string_view> &names() const { return names_; }
  std::vector<std::string_view> names_of_perhaps() const;

private:
  Passes first_, certain_, perhaps_;
  std::vector<std::string_view> names_, own_perhaps_;
};

} // namespace dnheap
