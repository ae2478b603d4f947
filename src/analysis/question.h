// Question: what a verb is asked beyond the target, typed. A verb's row lists in Takes the options that it uses; the
// command line refuses all others. Words of --sort, --by and --table are keys of the answer's own columns and tables.
#pragma once
#include "base/enum_set.h"
#include "runtime/gc_data.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnheap {

// The options that a verb uses, by the members of Question. `type` includes type_exact; `limits` includes budget,
// baseline, record and no_instances_of.
enum class Takes : u8 {
  type,
  generation,
  min_bytes,
  range,
  life,
  all,
  closure,
  tree,
  merge,
  roots,
  values,
  no_values,
  symbols,
  interval,
  limits,
  plain,
  hubs,
  raw,
  as,
  around,
  depth,
  limit,
  timeout,
  max_bytes,
  refers_to,
  near,
  from,
  struct_type,
  no_stacks
};

// Selects objects that are, or are not, reachable.
enum class Life : u8 { any, live, dead };

struct Question {
  std::string target;  // as the user named it, for the headline and the next command
  std::string subject; // the address or type name after the target, if the verb takes one

  std::string type_regex, type_exact;            // RE2, already checked; a full type name; empty = any
  std::optional<GCSegmentGeneration> generation; // absent = any
  u64 min_bytes = 0;
  u64 max_bytes = ~u64{0};
  std::optional<std::pair<Address, Address>> range; // [first, second)
  Life life = Life::any;
  std::string refers_to;       // a generation, or "younger": only objects that refer to one there
  std::optional<Address> near; // only data around this address
  std::optional<Address> from; // the object at which a path begins, instead of a root
  std::string struct_type;     // the type of the struct at the subject: a MethodTable's address, or a type's name

  bool no_stacks = false;                   // without roots on stacks
  bool all = false;                         // all paths, not just the shortest one
  bool closure = false;                     // also everything reachable from the object
  bool tree = false;                        // the dominator tree instead of sums
  std::optional<u64> depth;                 // levels of a tree; absent: 4
  bool merge = false;                       // equal stacks as one
  bool references = false;                  // also the references in each frame
  bool values = false;                      // contents of strings and fields
  bool no_values = false;                   // blank the contents in the new file
  std::vector<std::string> symbol_folders;  // folders with .pdb files, in addition to the modules' own
  std::string output;                       // the file to make, for verbs that make one
  std::string as;                           // the kind of file; one of the verb's words for it
  std::optional<Address> around;            // the object in the middle
  std::optional<u64> limit;                 // objects of a neighbourhood, or rows, at most
  u64 timeout = 0;                          // limit in seconds for a question in SQL; 0 = none
  u64 interval = 0;                         // seconds between one dump and the next; 0 = use the dumps' own times
  std::string budget, baseline;             // files: of limits (doc/budget.md); a record, or a dump
  std::string record;                       // the file that the caller writes the record to
  std::vector<std::string> no_instances_of; // types that must have no live objects
  bool plain = false;                       // all owners equal, without ranks
  std::vector<std::string> hubs;            // further types whose objects are owners, besides the known ones
  bool raw = false;                         // all steps, including those that are folded for people

  std::string by;            // one of the verb's words for it; empty = the verb's default
  std::string sort;          // one of the verb's sort_columns; empty = the verb's default
  std::string table;         // the only table that is shown; empty = all
  u64 top = 0;               // rows that are shown of each table; 0 = all
  bool top_is_asked = false; // the user gave that number, so 0 really means all
  bool verbose = false;
};

} // namespace dnheap
