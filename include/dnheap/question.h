// Question: the subject and the options that a verb is given beyond its target, as typed values.
// QuestionOption: the option that sets a value of a Question; the command line, the explorer's requests, the C
// interface and agents' tools all parse options by the same table. A verb lists, as Takes, the members of Question that
// it uses; setting any other member is wrong usage. Words of Question::sort, by and table are keys of the answer's own
// columns and tables. Plain data; any thread.
#pragma once
#include "dnheap/address.h"

#include <span>
#include <utility>
#include <vector>

namespace dnheap::DNHEAP_ABI {

enum class Generation : std::uint8_t { gen0, gen1, gen2, loh, poh, frozen };
inline constexpr std::size_t generation_count = 6;
const char *name_of(Generation generation); // "gen0", …, "loh", "poh", "frozen"

// The members of Question that a verb uses. `type` includes type_exact; `fields` includes by_field; `limits` includes
// budget, baseline, record and no_instances_of.
enum class Takes : std::uint8_t {
  type,
  generation,
  min_bytes,
  range,
  life,
  all,
  closure,
  tree,
  merge,
  mine,
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
  no_stacks,
  kind,
  fields
};

// Restricts objects to reachable (live) or unreachable (dead) ones.
enum class Life : std::uint8_t { any, live, dead };

struct Question {
  std::string target = {};  // the user's name for the target, used in next commands; empty: the opened path
  std::string subject = {}; // an address or type name, if the verb takes one

  std::string type_regex = {}, type_exact = {}; // RE2, or a name as C# writes it; a full type name; empty = any
  std::optional<Generation> generation = {};    // nullopt = any
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = ~std::uint64_t{0};
  std::optional<std::pair<Address, Address>> range = {}; // [first, second)
  Life life = Life::any;
  std::string refers_to = {};       // a generation, or "younger": only objects that refer to an object there
  std::optional<Address> near = {}; // only what lies around this address in memory
  std::optional<Address> from = {}; // the object where the path begins, instead of a root
  std::string struct_type = {};     // the type at the subject: a MethodTable's address, or a type's name
  std::string kind = {};            // only rows of this kind: of handles, roots, locks or threads; of a dump to take

  bool no_stacks = false;                        // ignore roots on stacks
  bool all = false;                              // more than the usual: all owners' paths, all threads' stacks, …
  bool closure = false;                          // also the size of everything the object reaches
  bool tree = false;                             // the dominator tree instead of sums
  std::optional<std::uint64_t> depth = {};       // levels of a tree; 4 if not given
  bool merge = false;                            // show equal stacks once
  bool mine = false;                             // show the program's own methods only
  bool references = false;                       // also the references in each frame of a stack
  bool values = false;                           // contents of strings and fields
  bool no_values = false;                        // blank the contents in the output file
  std::vector<std::string> symbol_folders = {};  // folders with .pdb files, in addition to those beside the modules
  std::string output = {};                       // the file to write, for verbs that write one
  std::string as = {};                           // the kind of file, one of the verb's words for it
  std::optional<Address> around = {};            // the object in the middle of a neighbourhood
  std::optional<std::uint64_t> limit = {};       // most objects of a neighbourhood, or most rows
  std::uint64_t timeout = 0;                     // most seconds for a question in SQL; 0 = no limit
  std::uint64_t interval = 0;                    // seconds between one dump and the next; 0 = from the dumps' own times
  std::string budget = {}, baseline = {};        // files: the limits; a record or a dump
  std::string record = {};                       // the file to which the caller writes the record
  std::vector<std::string> no_instances_of = {}; // types that must have no live objects
  std::vector<std::string> no_findings_of = {};  // kinds of findings that there must not be; "any": all
  bool plain = false;                            // all owners are equal, without ranks
  std::vector<std::string> hubs = {};            // types whose objects are owners, in addition to the known ones
  bool raw = false;                              // show each step, also those that are otherwise folded

  std::string by = {};       // one of the verb's words for it; empty = the verb's default
  std::string sort = {};     // one of the verb's sort_columns; empty = the verb's default order
  std::string table = {};    // the only table that will be written; empty = all
  std::uint64_t top = 0;     // rows that will be written of each table; 0 = all
  bool top_is_asked = false; // the user gave that number: 0 then means all rows, however many
  bool verbose = false;

  std::vector<std::string> fields = {}; // also these fields of each object: "_state", "_customer._name"
  std::string by_field = {};            // sum objects up by the value of this field
};

struct QuestionOption {
  enum class Several : std::uint8_t { last_counts, refused, all_count }; // what counts if the option is given twice

  const char *name;  // "type-exact"
  const char *value; // what help calls its value: "NAME"; null: it takes none
  Takes takes;
  const char *help;
  bool (*is_asked)(const Question &question);
  // Throws UsageError, which begins with the label: what the user wrote in front of the value.
  void (*set)(Question &question, const std::string &label, std::string_view value);
  Several several = Several::last_counts;
  std::vector<std::string_view> (*words)() = nullptr; // returns all possible values; null: any value
  bool names_files = false;                           // its value names files of the machine that answers
};

// In the order of the program's help.
std::span<const QuestionOption> question_options();

// Returns why the text is not a valid Question::type_regex: "missing ]: [a-"; nullopt: it is valid.
std::optional<std::string> pattern_problem(std::string_view pattern);

} // namespace dnheap::DNHEAP_ABI
