// Maps each value of the runtime's description that was not found to the parts of answers that lack it. Verbs' rows
// list the parts of their answers; ask() (verb.h) adds the notes to every answer, so that no verb can forget them. Some
// hundred look-ups.
#pragma once
#include "analysis/verb.h"
#include "contract/descriptor.h"

namespace dnheap {

struct MissingParts {
  std::vector<std::string> notes; // one per part, with the missing values' names
  bool is_incomplete = false;     // figures about live objects, or about bytes outside of objects, may be wrong
};
// Returns the notes for an answer with these parts. Values named in `said` need no note.
MissingParts missing_parts(const ContractDescriptor &descriptor, AnswerParts wanted,
                           const std::vector<std::string> &said = {});

// Returns the parts in the verb's row, and those that decide what is alive if the question uses references.
AnswerParts parts_of(const Verb &verb, const Plan &plan);

// Adds notes about the missing parts to the answer. The answer is incomplete if it is about live objects, or if it
// counts objects and allocation contexts are unknown.
void add_missing_parts(Snapshot &snapshot, AnswerParts wanted, const Verb &verb, report::Answer &answer);

// For tests: true if the table has a row for the value.
bool is_known_missing(std::string_view value);

} // namespace dnheap
