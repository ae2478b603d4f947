// Verbs: the program's questions, each answered by ask() in the same words as there: `stat`, `path`, `retained`, … What
// they cost and need is in their `details`. From the Snapshot's thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/record.h"
#include "dnheap/snapshot.h"

namespace dnheap::DNHEAP_ABI {

// What a verb looks at, by the members of Question; type includes type_exact, and
// limits budget, baseline, record and no_instances_of.
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
enum class Life : std::uint8_t { any, live, dead };

struct Question {
  std::string target = {};  // what the user named, for the next command; empty: as it was opened
  std::string subject = {}; // an address or type name, where the verb takes one

  std::string type_regex = {}, type_exact = {}; // RE2, or a name as C# writes it; a full type name; empty = any
  std::optional<Generation> generation = {};    // nothing = any
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = ~std::uint64_t{0};
  std::optional<std::pair<Address, Address>> range = {}; // [first, second)
  Life life = Life::any;
  std::string refers_to = {};       // a generation, or "younger": only objects that refer to one there
  std::optional<Address> near = {}; // only what lies around this address
  std::optional<Address> from = {}; // the object that a way begins at, instead of a root
  std::string struct_type = {};     // what lies at the subject: a MethodTable's address, or a type's name

  bool no_stacks = false;                        // of roots only those that are not on stacks
  bool all = false;                              // not just the shortest path
  bool closure = false;                          // also what is reachable from the object
  bool tree = false;                             // the dominator tree instead of sums
  std::optional<std::uint64_t> depth = {};       // levels of a tree; 4 where nothing is said
  bool merge = false;                            // stacks that are alike as one
  bool references = false;                       // also what each frame of a stack holds
  bool values = false;                           // contents of strings and fields
  bool no_values = false;                        // blank the contents in the file that is made
  std::vector<std::string> symbol_folders = {};  // where .pdb files lie, besides beside the modules
  std::string output = {};                       // the file to make, of verbs that make one
  std::string as = {};                           // what kind of file; one of the verb's words for it
  std::optional<Address> around = {};            // the object in the middle
  std::optional<std::uint64_t> limit = {};       // objects of a neighbourhood, or rows, at most
  std::uint64_t timeout = 0;                     // seconds that a question in SQL may take; 0 = as long as it takes
  std::uint64_t interval = 0;                    // seconds between one dump and the next; 0 = as they tell
  std::string budget = {}, baseline = {};        // files: of limits; a record, or a dump
  std::string record = {};                       // the file that whoever asks writes the record to
  std::vector<std::string> no_instances_of = {}; // types that must have no live objects
  bool plain = false;                            // all owners alike, without ranks
  std::vector<std::string> hubs = {};            // types whose objects own by themselves, besides those that are known
  bool raw = false;                              // each step, also those that are folded for people

  std::string by = {};       // one of the verb's words for it; empty = the verb's own
  std::string sort = {};     // one of the verb's sort_columns; empty = the verb's own order
  std::string table = {};    // the only one that will be written; empty = all
  std::uint64_t top = 0;     // rows that will be written of each table; 0 = all
  bool top_is_asked = false; // the user gave that number: 0 means all, however many
  bool verbose = false;
};

struct Verb {
  std::string_view name;
  std::string_view question; // "which types fill the heap?"
  std::string_view details = {};
  std::string_view subject = {};       // what it takes beyond the target: "ADDR"; empty: nothing
  std::string_view subject_asked = {}; // "which object?"
  bool subject_is_optional = false;
  std::vector<std::string_view> subjects = {}; // all that it may be; empty: whatever is in the target
  // Whatever a verb does not list is wrong usage.
  std::vector<Takes> takes = {};
  std::vector<std::string_view> sort_columns = {}; // keys for Question::sort; the first is the verb's own order
  std::vector<std::string_view> by = {};           // words for Question::by
  std::vector<std::string_view> as = {};           // words for Question::as
  std::vector<std::string_view> tables = {};       // keys for Question::table; the first is the main one
  bool needs_target = true;                        // false: see ask_alone()
  bool answers_alone = false;                      // of its subject not named; see ask_alone()
  bool takes_records = false;                      // see ask_records()
  bool takes_several = false;                      // targets
  bool takes_each = false;                         // of several targets each is answered by itself
  std::string_view format = {};                    // to write its answers in unless another is asked for; empty: any
  bool makes_file = false;                         // needs Question::output
  bool records_reads = false;                      // needs OpenOptions::record_reads
};

// In the order of the program's help; the first is what it takes a dump alone to mean.
std::span<const Verb> verbs();
// Throws UsageError when there is none.
const Verb &verb_called(std::string_view name);

// The answer. Asks again when part of the dump was lost meanwhile, so that nothing in it rests on bytes that could not
// be read. Throws UsageError when the verb does not take what the question
// asks for, NotFound when its subject is not
// there.
Answer ask(Snapshot &snapshot, std::string_view verb, const Question &question = {});
// Of a verb that takes no target: `ps`; or that may be asked without one and a subject: `inspect`.
Answer ask_alone(std::string_view verb, const Question &question = {}, Progress *progress = nullptr);
// What stands for the answer about a target that there is none of, for verbs that answer several by themselves.
Answer no_answer(std::string_view verb, const std::string &target, const std::string &error);
// Of a verb that looks at records of its targets: `diff`, of two or more, the oldest first; `check`, of one, and of its
// baseline as the second.
Answer ask_records(std::string_view verb, std::span<const Record> records, const Question &question = {});
// Why Question::type_regex cannot be that: "missing ]: [a-"; nothing: it can.
std::optional<std::string> pattern_problem(std::string_view pattern);
// The passes that a question will take, as Progress names them, from opening the target to writing the answer: some may
// be left out, or come twice. Throws UsageError where the question's options exclude each other.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// What the passes took that were reported to `progress`, as an answer to write.
Answer answer_times(const Progress &progress);

} // namespace dnheap::DNHEAP_ABI
