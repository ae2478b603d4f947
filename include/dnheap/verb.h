// Verbs: the program's questions, each answered by ask() in the same words as there: `stat`, `path`, `retained`, … What
// they cost and need is in their `details`. From the Snapshot's thread.
#pragma once
#include "dnheap/answer.h"
#include "dnheap/question.h"
#include "dnheap/record.h"
#include "dnheap/snapshot.h"

namespace dnheap::DNHEAP_ABI {

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
// The passes that a question will take, as Progress names them, from opening the target to writing the answer: some may
// be left out, or come twice. Throws UsageError where the question's options exclude each other.
std::vector<std::string_view> passes_of(const Verb &verb, const Question &question, bool of_process);

// What the passes took that were reported to `progress`, as an answer to write.
Answer answer_times(const Progress &progress);

} // namespace dnheap::DNHEAP_ABI
