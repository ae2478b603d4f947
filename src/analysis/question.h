// Question: what is asked of a verb beyond the target, typed. A verb's row names, as Takes, which of the options it
// looks at; for the command line all others are wrong usage. Words of --sort, --by and --table are keys of the answer's
// own columns and tables.
#pragma once
#include "base/enum_set.h"
#include "runtime/gc_data.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnheap {

// What a verb looks at, by the members of Question; type includes type_exact,
// and limits budget, baseline, record and no_instances_of.
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

// Only objects that are, or are not, reachable.
enum class Life : u8 { any, live, dead };

struct Question {
  std::string target;  // what the user named, for the headline and the next command
  std::string subject; // the address or type name behind the target, where the verb takes one

  std::string type_regex, type_exact;            // RE2, already known to be valid; a full type name; empty = any
  std::optional<GCSegmentGeneration> generation; // absent = any
  u64 min_bytes = 0;
  u64 max_bytes = ~u64{0};
  std::optional<std::pair<Address, Address>> range; // [first, second)
  Life life = Life::any;
  std::string refers_to;       // a generation, or "younger": only objects that refer to one there
  std::optional<Address> near; // only what lies around this address
  std::optional<Address> from; // the object that a way begins at, instead of a root
  std::string struct_type;     // what lies at the subject: a MethodTable's address, or a type's name

  bool no_stacks = false;                   // of roots only those that are not on stacks
  bool all = false;                         // not just the shortest path
  bool closure = false;                     // also what is reachable from the object
  bool tree = false;                        // the dominator tree instead of sums
  std::optional<u64> depth;                 // levels of a tree; 4 where nothing is said
  bool merge = false;                       // stacks that are alike as one
  bool references = false;                  // also what each frame holds
  bool values = false;                      // contents of strings and fields
  bool no_values = false;                   // blank the contents in the file that is made
  std::vector<std::string> symbol_folders;  // where .pdb files lie, besides beside the modules
  std::string output;                       // the file to make, of verbs that make one
  std::string as;                           // what kind of file; one of the verb's words for it
  std::optional<Address> around;            // the object in the middle
  std::optional<u64> limit;                 // objects of a neighbourhood, or rows, at most
  u64 timeout = 0;                          // seconds that a question in SQL may take; 0 = as long as it takes
  u64 interval = 0;                         // seconds between one dump and the next; 0 = as they tell
  std::string budget, baseline;             // files: of limits (doc/budget.md); a record, or a dump
  std::string record;                       // the file that the record is written to, by whoever asks
  std::vector<std::string> no_instances_of; // types that must have no live objects
  bool plain = false;                       // all owners alike, without ranks
  std::vector<std::string> hubs;            // types whose objects own by themselves, besides those that are known
  bool raw = false;                         // each step, also those that are folded for people

  std::string by;            // one of the verb's words for it; empty = the verb's own
  std::string sort;          // one of the verb's sort_columns; empty = the verb's own order
  std::string table;         // the only one that will be shown; empty = all
  u64 top = 0;               // rows that will be shown of each table; 0 = all
  bool top_is_asked = false; // the user gave that number: 0 means all, however many
  bool verbose = false;
};

} // namespace dnheap
