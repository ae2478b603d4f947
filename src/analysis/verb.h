// Verb: one question that the program can answer, as one row of a table. The command line's parsing, its help and its
// checks follow from the rows; a new analysis is one file and one row. An AnswerFunction may throw Error, UsageError,
// NotFound and Interrupted; it is called once, from one thread.
#pragma once
#include "base/integers.h"
#include "base/watch.h"
#include "report/answer.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace dnheap {

class Snapshot;

// What the user asked for beyond the verb and the target.
struct Question {
  std::string type_regex, type_exact;    // RE2, already known to be valid; a full type name; empty = any
  std::optional<std::string> generation; // gen0, gen1, gen2, loh, poh, frozen
  u64 min_bytes = 0;
  std::optional<std::pair<Address, Address>> range; // [first, second)
  std::string subject;             // the address or type name behind the target, where the verb takes one
  bool live = false, dead = false; // only objects that are, or are not, reachable
  bool all = false;                // not just the shortest path
  bool closure = false;            // also what is reachable from the object
  bool tree = false;               // the dominator tree instead of sums
  bool values = false;             // contents of strings and fields
  std::optional<u64> depth;        // levels of a tree; 4 where nothing is said
  std::string by;                  // what rows are sums of, or what they are ordered by
  std::string sort;                // one of the verb's sort_columns; empty = the verb's own order
  std::string table;               // the only one that will be shown; empty = all
  u64 top = 0;                     // rows that will be shown of each table; 0 = all
  bool top_is_asked = false;       // the user gave that number: 0 means all, however many
  bool verbose = false;
  std::string output;     // the file to make, of verbs that make one
  bool no_values = false; // blank the contents in it
  std::string target;     // what the user named, for the headline and the next command
};

using AnswerFunction = report::Answer (*)(Snapshot &snapshot, const Question &question);

struct Verb {
  const char *name;
  const char *question; // "which types fill the heap?"
  const char *details;  // paragraphs for `dnheap VERB --help`
  // Names, with spaces between. Whatever a verb does not list is wrong usage, never silently ignored.
  const char *filters; // of: type gen min range live all closure tree values no-values (type includes --type-exact)
  const char *sort_columns; // keys that --sort takes; the first is the verb's own order
  const char *tables;       // keys that --table takes; the first is the main one
  AnswerFunction answer;
  // What stands behind the target on the command line, as the help calls it: "ADDR", "ADDR|TYPE"; null: nothing.
  const char *subject = nullptr;
  const char *by = ""; // words that --by takes
  // Of a verb that takes no target, instead of `answer`. May throw as that does.
  report::Answer (*answer_alone)(const Question &question, const Watch &watch) = nullptr;
  // -o, which must be given, names the file that the verb makes; its answer goes to standard output. Such a verb is
  // asked of a Snapshot that records what is read.
  bool makes_file = false;
};

// The verb's answer. Asks again when part of the dump was lost meanwhile, so that nothing in it rests on bytes that
// could not be read; rows that are still to be streamed check that themselves.
report::Answer ask(const Verb &verb, Snapshot &snapshot, const Question &question);

// In the order of the help; the first is what `dnheap FILE` alone means.
std::span<const Verb> verbs();

} // namespace dnheap
