// What an answer loses with each value of the runtime's description that was not found: one table of values and parts;
// verbs' rows say which parts their answers have. ask() (verb.h) adds it to every answer, so that no verb can forget
// to. Some hundred look-ups.
#pragma once
#include "analysis/verb.h"
#include "contract/descriptor.h"

namespace dnheap {

struct MissingParts {
  std::vector<std::string> notes; // one per part that lacks something, with the values' names
  bool is_incomplete = false;     // numbers may be wrong: of what is alive, or of bytes that no object has
};
// Of an answer that has these parts. Values that one of `said` names need no note.
MissingParts missing_parts(const ContractDescriptor &descriptor, AnswerParts wanted,
                           const std::vector<std::string> &said = {});

// Those of the verb's row, and those of what is alive if the question takes references.
AnswerParts parts_of(const Verb &verb, const Plan &plan);

// What is missing of the wanted parts, into the answer's notes. An answer about what is alive is then incomplete, and
// one that counts objects where allocation contexts are not known.
void add_missing_parts(Snapshot &snapshot, AnswerParts wanted, const Verb &verb, report::Answer &answer);

// For tests: does the table know the value?
bool is_known_missing(std::string_view value);

} // namespace dnheap
