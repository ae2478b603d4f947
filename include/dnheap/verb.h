// Verbs: the program's questions, which ask() answers in the same words: `stat`, `path`, `retained`, … Their `details`
// say what they cost and need. Call from the Snapshot's thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/question.h"
#include "dnheap/record.h"
#include "dnheap/snapshot.h"

namespace dnheap::DNHEAP_ABI {

struct Verb {
  std::string_view name;
  std::string_view group = {}; // the heading in the help that it is listed under: "memory"
  std::string_view question;   // "which types fill the heap?"
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
  bool needs_process = false;                      // its target is a running process
  bool answers_alone = false;                      // can also be asked without a target; see ask_alone()
  bool takes_records = false;                      // see ask_records()
  bool takes_several = false;                      // targets
  bool takes_each = false;                         // answers each of several targets separately
  std::string_view format = {};                    // the default format of its answers; empty: any
  bool makes_file = false;                         // needs Question::output
  bool records_reads = false;                      // needs OpenOptions::record_reads
  // Needs contents of objects, or threads: a .gcdump, or a process opened with OpenOptions::by_port, has neither.
  bool needs_memory = false;
};

// In the order of the program's help. The program uses the first one if only a dump is given.
std::span<const Verb> verbs();
// Throws UsageError if there is none.
const Verb &verb_called(std::string_view name);

// Returns the answer. If part of the dump could not be read, computes the answer again without that part, so that the
// answer never depends on bytes that could not be read. Throws UsageError if the verb does not take something in the
// question, NotFound if its subject does not exist.
Answer ask(Snapshot &snapshot, std::string_view verb, const Question &question = {});
// For a verb that takes no target (`ps`), or that can be asked without one and without a subject (`inspect`).
Answer ask_alone(std::string_view verb, const Question &question = {}, Progress *progress = nullptr);
// Returns a substitute answer for a target that could not be opened, for verbs that answer several targets separately.
Answer no_answer(std::string_view verb, const std::string &target, const std::string &error);
// For verbs that use records of their targets: `diff` takes two or more, the oldest first; `check` takes one, and its
// baseline as the second.
Answer ask_records(std::string_view verb, std::span<const Record> records, const Question &question = {});
// Returns the passes that a question will take, by their Progress names, from opening the target to writing the answer.
// Some may be left out, or occur twice. Throws UsageError if the question's options exclude each other.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// Returns the times of the passes reported to `progress`, as an answer to write.
Answer answer_times(const Progress &progress);

} // namespace dnheap::DNHEAP_ABI
