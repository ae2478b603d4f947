// HeapTables: the open snapshot as tables of SQLite: types, objects, refs, roots, owners, dominators, strings, meta.
// Read-only; rows are made when they are asked for. Equality on the address of an object (of refs on its source or
// target, of types on the id) is a look-up, everything else goes over all rows. What a table rests on is worked out
// when it is first asked for: graph and referrers by refs' targets, the dominator tree by owners and dominators. From
// the thread of the snapshot only.
#pragma once
#include "analysis/export/held_roots.h"
#include "analysis/export/reference_names.h"
#include "analysis/owners/holding.h"
#include "objects/object_graph.h"
#include "snapshot/snapshot.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace dnheap {

class HeapTables {
public:
  // `values`: column `value` of strings has what they contain; otherwise it is null.
  HeapTables(Snapshot &snapshot, bool values) : snapshot_(snapshot), values_(values) {}
  HeapTables(const HeapTables &) = delete;

  // The tables' names, each behind `prefix`, in that database, as long as this lives.
  void add_to(sqlite3 *database, const std::string &prefix);
  static const std::vector<std::string> &names();

  // What will be prepared next: see is_quoted().
  void set_question(std::string sql) { question_ = std::move(sql); }
  // Stands this text between quotes in the question? SQLite tells hexadecimal literals of more than 31 bits as texts.
  bool is_quoted(const std::string &text) const {
    return question_.find("'" + text + "'") != question_.npos || question_.find('"' + text + '"') != question_.npos;
  }

  Snapshot &snapshot() const { return snapshot_; }
  bool values() const { return values_; }
  const std::vector<std::string> &types(); // by TypeId, and one more for what has none
  const ReferenceNames &reference_names();
  const HeldRoots &roots();
  const Referrers &referrers();
  // Who holds what: as `retained` shows it, or as `retained --plain` does.
  Holding &holding(bool is_plain);

  // What went wrong in a row, for whoever called SQLite: SQLite itself knows no exceptions.
  void keep_error() { error_ = std::current_exception(); }
  void throw_error() {
    if (error_)
      std::rethrow_exception(std::exchange(error_, nullptr));
  }

private:
  Snapshot &snapshot_;
  const bool values_;
  std::string question_;
  std::vector<std::string> types_;
  std::unique_ptr<ReferenceNames> reference_names_;
  std::unique_ptr<HeldRoots> roots_;
  std::unique_ptr<Referrers> referrers_;
  std::unique_ptr<Holding> ranked_, plain_;
  std::exception_ptr error_;
};

} // namespace dnheap
