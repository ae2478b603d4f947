// HeapTables: the open snapshot as tables of SQLite: types, objects, refs, roots, owners, dominators, strings, entries,
// meta. Read-only; rows are made when they are asked for. Equality with the address of an object (in refs with its
// source or target, in types with the id) is a look-up, everything else goes over all rows; entries, which are those of
// one collection, can only be looked up. The data that a table needs are computed when it is first used: graph and
// referrers for the targets of refs, the dominator tree for owners and dominators. Runs only in the snapshot's thread.
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
  // `values`: the column `value` of strings has their contents; otherwise it is null.
  HeapTables(const Snapshot &snapshot, bool values) : snapshot_(snapshot), values_(values) {}
  HeapTables(const HeapTables &) = delete;

  // Adds the tables, their names prefixed by `prefix`, to that database; they are valid as long as this lives.
  void add_to(sqlite3 *database, const std::string &prefix);
  static const std::vector<std::string> &names();

  // Sets the statement that is prepared next, for is_quoted().
  void set_question(std::string sql) { question_ = std::move(sql); }
  // True if the SQL statement contains `text` in quotes. Needed because SQLite passes an unquoted hexadecimal literal
  // of more than 31 bits as text too.
  bool is_quoted(const std::string &text) const {
    return question_.find("'" + text + "'") != question_.npos || question_.find('"' + text + '"') != question_.npos;
  }

  const Snapshot &snapshot() const { return snapshot_; }
  bool values() const { return values_; }
  const std::vector<std::string> &types(); // by TypeId, and one more for objects of unknown type
  const ReferenceNames &reference_names();
  const HeldRoots &roots();
  const Referrers &referrers();
  // Returns the owners as `retained` shows them, or as `retained --plain` does.
  Holding &holding(bool is_plain);

  // Keeps an error that occurred while a row was made; throw_error() throws it, as no exception may pass through
  // SQLite.
  void keep_error() { error_ = std::current_exception(); }
  void throw_error() {
    if (error_)
      std::rethrow_exception(std::exchange(error_, nullptr));
  }

private:
  const Snapshot &snapshot_;
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
