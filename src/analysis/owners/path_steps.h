// Puts paths from roots to an object into words, for all verbs that show paths. Costs one pass over all roots.
#pragma once
#include "algorithms/paths/shortest_paths.h"
#include "analysis/objects/object_view.h"
#include "objects/roots.h"

namespace dnheap {

struct PathStep {
  Address address = 0;
  std::string type;
  std::string field;  // field of the previous object that leads here, with indices: "[17].value"; empty for the first
                      // one
  std::string folded; // the same, without indices
  std::string calls;  // for a delegate: its method
  std::string call;   // for an object that holds a pending call: the method
};

struct PathSteps {
  std::vector<report::Fact> root; // as in the table `roots`
  std::string owner;              // "static Shop.Cache._items"
  bool is_static = false;         // a static field
  bool conservative = false;
  bool is_hub = false;         // an object that is an owner, whoever reaches it, such as the container of services
  std::vector<PathStep> steps; // for a very long path only the first and the last steps
  u64 left_out = 0;            // steps left out in the middle
  std::string signature;       // of the owner
  std::string way;             // signature of owner and fields, folded
};

std::vector<PathSteps> path_steps(const Snapshot &snapshot, ObjectView &view, std::span<const OwnedPath> paths);

// Describes a path between two objects. `objects`: all objects on the path; the first one stands for the root.
PathSteps steps_between(const Snapshot &snapshot, ObjectView &view, std::span<const ObjectId> objects);

// Returns facts about `root`, or about its owner if `root` is null.
std::vector<report::Fact> root_facts(const Snapshot &snapshot, OwnerId owner, const Root *root);

// "static Shop.Cache._items._entries[17].value(._next)×12": the path on one line; repeats are shown once.
std::string path_text(const PathSteps &path);

// Returns rows {field, type, address} for people. Repeats are shown once, with their number. Unless `is_raw`, the inner
// objects of collections are folded into the next step.
std::vector<report::Row> folded_rows(const PathSteps &path, bool is_raw);

} // namespace dnheap
