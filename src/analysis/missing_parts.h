// What an answer loses with each value of the runtime's description that was not found: one table of values and parts,
// one of parts and verbs. ask() (verb.h) adds it to every answer, so that no verb can forget to. Some hundred look-ups.
#pragma once
#include "analysis/verb.h"
#include "contract/descriptor.h"

namespace dnheap {

struct MissingParts {
  std::vector<std::string> notes; // one per part that lacks something, with the values' names
  bool is_incomplete = false;     // numbers may be wrong: of what is alive, or of bytes that no object has
};
// Of what the verb's answer rests on. Values that one of `said` names need no note.
MissingParts missing_parts(const ContractDescriptor &descriptor, std::string_view verb, const Question &question,
                           const std::vector<std::string> &said = {});

// The same, into the answer's notes. An answer about what is alive is then incomplete, and one that counts objects
// where allocation contexts are not known.
void add_missing_parts(const ContractDescriptor &descriptor, const Verb &verb, const Question &question,
                       report::Answer &answer);

// For tests: does the table know the value?
bool is_known_missing(std::string_view value);
bool is_known_verb(std::string_view verb);

} // namespace dnheap
