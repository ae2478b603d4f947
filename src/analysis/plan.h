// Plan: what a question takes, as its verb's row foresees it: what ask() has worked out before the verb begins, what
// the verb itself comes to, and what is done only where something is wrong with the dump. Whatever else a Snapshot has
// to work out for the verb is an error in its row (Snapshot::unforeseen, test/analysis/plan_test.cc).
#pragma once
#include "analysis/question.h"
#include "snapshot/pass.h"

#include <string_view>
#include <vector>

namespace dnheap {

class Plan {
public:
  Plan() = default;
  // What ask() prepares.
  explicit Plan(Passes first) { then(first), first_ = first; }

  // What the verb asks for when it knows more, of its subject, say.
  Plan &then(Passes passes);
  // A pass of the verb's own, by the name that Progress has of it.
  Plan &then(std::string_view own);
  // What few questions of this kind take.
  Plan &perhaps(Passes passes);
  Plan &perhaps(std::string_view own);

  Passes first() const { return first_; }
  // All that may be asked of the Snapshot.
  Passes foreseen() const { return with_foundations(certain_ | perhaps_); }
  // What it is certain to rest on.
  Passes certain() const { return with_foundations(certain_); }
  // In the order in which they will come, but those that may not come at all. What was made once is kept.
  const std::vector<std::string_view> &names() const { return names_; }
  std::vector<std::string_view> names_of_perhaps() const;

private:
  Passes first_, certain_, perhaps_;
  std::vector<std::string_view> names_, own_perhaps_;
};

} // namespace dnheap
