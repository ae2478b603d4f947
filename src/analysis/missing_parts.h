// Maps each value of the runtime's description that was not found to the parts of answers that lack it. Verbs' rows
// list the parts of their answers; ask() (verb.h) adds the notes to every answer, so that no verb can forget them. Some
// hundred look-ups.
#pragma once
#include "analysis/verb.h"
#include "base/notes.h"
#include "contract/descriptor.h"

namespace dnheap {

// Adds the notes for an answer with these parts: one per part, with the missing values' names. A value that is the key
// of another note gets no second note, but that note gets the value's effect. A note has an effect if figures about
// live objects, or about bytes outside of objects, may be wrong.
void add_missing_parts(const ContractDescriptor &descriptor, AnswerParts wanted, Notes &notes);

// Returns the parts in the verb's row, and those that decide what is alive if the question uses references.
AnswerParts parts_of(const Verb &verb, const Plan &plan);

// The same for an answer. One that shows missing values (Verb::tells_missing_parts) is complete without them.
void add_missing_parts(const Snapshot &snapshot, AnswerParts wanted, const Verb &verb, report::Answer &answer);

// For tests: true if the table has a row for the value.
bool is_known_missing(std::string_view value);

} // namespace dnheap
