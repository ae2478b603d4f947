// Paths from roots to an object, put into words: for `path` and whoever shows paths. Costs one pass over all roots.
#pragma once
#include "algorithms/shortest_paths.h"
#include "analysis/objects/object_view.h"
#include "objects/roots.h"

namespace dnheap {

struct PathStep {
  Address address = 0;
  std::string type;
  std::string field;  // of the object before it, elements told: "[17].value"; of the first one: empty
  std::string folded; // the same, elements folded
  std::string calls;  // of a delegate: the method
  std::string call;   // of an object that a pending call is kept in: the method
};

struct PathSteps {
  std::vector<report::Fact> root; // as in the table `roots`
  std::string owner;              // "static Shop.Cache._items"
  bool is_static = false;         // a static field
  bool conservative = false;
  std::vector<PathStep> steps; // of a very long path the first and the last ones
  u64 left_out = 0;            // how many between them
  std::string signature;       // the owner's
  std::string way;             // the same for owner and fields, folded
};

std::vector<PathSteps> path_steps(Snapshot &snapshot, ObjectView &view, std::span<const OwnedPath> paths);

// From one object to another, by way of these: the first stands for the root.
PathSteps steps_between(Snapshot &snapshot, ObjectView &view, std::span<const ObjectId> objects);

// What is known of a root that an owner has; null: of the owner itself.
std::vector<report::Fact> root_facts(Snapshot &snapshot, OwnerId owner, const Root *root);

// "static Shop.Cache._items._entries[17].value(._next)×12": in one line, what repeats once.
std::string path_text(const PathSteps &path);

// Rows {field, type, address} for people: what repeats is shown once, with how often, and what collections are made of,
// unless it is raw, with what they hold.
std::vector<report::Row> folded_rows(const PathSteps &path, bool is_raw);

} // namespace dnheap
