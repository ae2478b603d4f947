// Verbs: the program's questions, which ask() answers in the same words: `stat`, `path`, `retained`, … Their `details`
// say what they cost and need. Call from the Snapshot's thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/record.h"
#include "dnheap/snapshot.h"

namespace dnheap::DNHEAP_ABI {

// The members of Question that a verb uses. `type` includes type_exact; `limits` includes budget, baseline, record and
// no_instances_of.
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
  std::optional<Address> near = {}; // only things around this address
  std::optional<Address> from = {}; // the object where the path begins, instead of a root
  std::string struct_type = {};     // the type at the subject: a MethodTable's address, or a type's name

  bool no_stacks = false;                        // ignore roots on stacks
  bool all = false;                              // not just the shortest path
  bool closure = false;                          // also the size of everything the object reaches
  bool tree = false;                             // the dominator tree instead of sums
  std::optional<std::uint64_t> depth = {};       // levels of a tree; 4 if not given
  bool merge = false;                            // show equal stacks once
  bool references = false;                       // also the references in each frame of a stack
  bool values = false;                           // contents of strings and fields
  bool no_values = false;                        // blank the contents in the output file
  std::vector<std::string> symbol_folders = {};  // folders with .pdb files, in addition to those beside the modules
  std::string output = {};                       // the file to write, for verbs that write one
  std::string as = {};                           // the kind of file, one of the verb's words for it
  std::optional<Address> around = {};            // the object in the middle
  std::optional<std::uint64_t> limit = {};       // most objects of a neighbourhood, or most rows
  std::uint64_t timeout = 0;                     // most seconds for a question in SQL; 0 = no limit
  std::uint64_t interval = 0;                    // seconds between one dump and the next; 0 = from the dumps' own times
  std::string budget = {}, baseline = {};        // files: the limits; a record or a dump
  std::string record = {};                       // the file to which the caller writes the record
  std::vector<std::string> no_instances_of = {}; // types that must have no live objects
  bool plain = false;                            // all owners are equal, without ranks
  std::vector<std::string> hubs = {};            // types whose objects own by themselves, in addition to the known ones
  bool raw = false;                              // show each step, also those that are otherwise folded

  std::string by = {};       // one of the verb's words for it; empty = the verb's default
  std::string sort = {};     // one of the verb's sort_columns; empty = the verb's default order
  std::string table = {};    // the only table that will be written; empty = all
  std::uint64_t top = 0;     // rows that will be written of each table; 0 = all
  bool top_is_asked = false; // the user gave that number: 0 then means all rows, however many
  bool verbose = false;
};

struct Verb {
  std::string_view name;
  std::string_view question; // "which types fill the heap?"
  std::string_view details = {};
  std::string_view subject = {};       // the argument beyond the target: "ADDR"; empty: none
  std::string_view subject_asked = {}; // "which object?"
  bool subject_is_optional = false;
  std::vector<std::string_view> subjects = {}; // all valid subjects; empty: any in the target
  // Using anything that a verb does not list is a usage error.
  std::vector<Takes> takes = {};
  std::vector<std::string_view> sort_columns = {}; // keys for Question::sort; the first is the verb's own order
  std::vector<std::string_view> by = {};           // words for Question::by
  std::vector<std::string_view> as = {};           // words for Question::as
  std::vector<std::string_view> tables = {};       // keys for Question::table; the first is the main one
  bool needs_target = true;                        // false: see ask_alone()
  bool answers_alone = false;                      // about its subject without a target; see ask_alone()
  bool takes_records = false;                      // see ask_records()
  bool takes_several = false;                      // targets
  bool takes_each = false;                         // answers each of several targets separately
  std::string_view format = {};                    // the default format of its answers; empty: any
  bool makes_file = false;                         // needs Question::output
  bool records_reads = false;                      // needs OpenOptions::record_reads
};

// In the order of the program's help. The program uses the first one if only a dump is given.
std::span<const Verb> verbs();
// Throws UsageError if there is none.
const Verb &verb_called(std::string_view name);

// Returns the answer. Asks again if part of the dump was lost meanwhile, so that the answer never depends on bytes that
// could not be read. Throws UsageError if the verb does not take something in the question, NotFound if its subject
// does not exist.
Answer ask(Snapshot &snapshot, std::string_view verb, const Question &question = {});
// For a verb that takes no target (`ps`), or that can be asked without one and without a subject (`inspect`).
Answer ask_alone(std::string_view verb, const Question &question = {}, Progress *progress = nullptr);
// Returns a substitute answer for a target that could not be opened, for verbs that answer several targets separately.
Answer no_answer(std::string_view verb, const std::string &target, const std::string &error);
// For verbs that use records of their targets: `diff` takes two or more, the oldest first; `check` takes one, and its
// baseline as the second.
Answer ask_records(std::string_view verb, std::span<const Record> records, const Question &question = {});
// Returns why the text is not valid as Question::type_regex: "missing ]: [a-"; nullopt: it is valid.
std::optional<std::string> pattern_problem(std::string_view pattern);
// Returns the passes that a question will take, by their Progress names, from opening the target to writing the answer.
// Some may be left out, or occur twice. Throws UsageError if the question's options exclude each other.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// Returns the times of the passes reported to `progress`, as an answer to write.
Answer answer_times(const Progress &progress);

} // namespace dnheap::DNHEAP_ABI
