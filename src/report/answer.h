// Answer: the complete answer of a verb, independent of the output format: what was examined, how much of it could be
// read, the tables, and the command to run next.
#pragma once
#include "base/notes.h"
#include "report/headline.h"
#include "report/table.h"

namespace dnheap::report {

// How much of the heap the answer depends on. Every format shows it, so that no verb can forget to.
struct Completeness {
  struct Gap {
    Address start = 0, end = 0;
    std::string reason;
  };
  bool is_walked = true; // false: the numbers below are unknown, as the answer needs no walk of the heap
  u64 objects = 0, bytes = 0, bad_objects = 0;
  std::vector<Gap> gaps;                 // not walked; text shows the first few
  Notes notes;                           // about odd or missing things
  u64 more_gaps = 0, more_gap_bytes = 0; // gaps that are not in the list
  bool has_heap = true;                  // false: the dump holds only pieces of the heap, or nothing
  u64 unsound = 0;                       // what `verify` found wrong
  u64 incomplete_records = 0;            // how many of the compared records are incomplete

  // True if nothing is missing: no gap, nothing unsound, and no note with an effect.
  bool complete() const {
    return gaps.empty() && !more_gaps && !bad_objects && !unsound && !incomplete_records && !notes.have_effect();
  }
};

struct Answer {
  std::string command;                      // the verb
  Headline headline;                        // first line of text: target, runtime, version, how complete
  std::string lead;                         // sentences before all tables: what ended the process
  std::vector<Fact> target;                 // JSON's "target", in this order
  std::optional<Completeness> completeness; // absent for verbs that read no heap
  std::vector<Table> tables;                // the main one first
  u64 exceeded = 0;                         // limits that are exceeded, for verbs that check limits
  u64 uncertain = 0;                        // limits that hold in the part that could be read
  u64 unmatched = 0;                        // limits for a type or owner that the dump does not have
  std::string error;                        // for one of several targets: why it has no answer
  std::string next_command;                 // "dnheap path core --type …"; empty for none
};

} // namespace dnheap::report
