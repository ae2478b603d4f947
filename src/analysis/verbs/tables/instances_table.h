// The objects of `objects` with more than their sizes: with what they hold alone (--by retained), with fields of one's
// choice (--fields), or summed up by the value of a field (--by-field). A few reads per object and field; retained
// sizes cost the dominator tree.
#pragma once
#include "analysis/filters/type_filter.h"
#include "report/answer.h"
#include "snapshot/snapshot.h"

#include <functional>

namespace dnheap {

struct Instance {
  Address address = 0, method_table = 0;
  u64 bytes = 0;
  const char *generation = "";
};

// True if the question asks for one of these.
bool is_about_instances(const Question &question);
// Throws UsageError if its options do not fit together.
void check_instances(const Question &question);

// `next` returns false at the end; it must give the objects in the order of their addresses. Throws UsageError if no
// type that passes has one of the fields.
report::Table instances_table(const Snapshot &snapshot, const Question &question, const TypeFilter &types,
                              const std::function<bool(Instance &)> &next);

} // namespace dnheap
