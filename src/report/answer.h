// Answer: everything that a verb has to say, independent of how it is written: what was looked at, how much of it could
// be read, the tables, and the command to run next.
#pragma once
#include "report/notes.h"
#include "report/table.h"

namespace dnheap::report {

// How much of the heap the answer rests on. Every format shows it, so that no verb can forget to.
struct Completeness {
  struct Gap {
    Address start = 0, end = 0;
    std::string reason;
  };
  bool is_walked = true; // false: these are not known, as the answer needs no walk of the heap
  u64 objects = 0, bytes = 0, bad_objects = 0;
  bool complete = true;
  // Where the headline says "complete", if it does; at its end when it is made.
  std::optional<std::size_t> word_in_headline;
  std::vector<Gap> gaps;                 // not walked; text shows the first few
  Notes notes;                           // what is odd or missing
  u64 more_gaps = 0, more_gap_bytes = 0; // not among these
};

struct Answer {
  std::string command;                      // the verb
  std::string headline;                     // first line of text: target, runtime, version, how complete
  std::string lead;                         // what is said before all tables, in words: what ended the process
  std::vector<Fact> target;                 // JSON's "target", in this order
  std::optional<Completeness> completeness; // absent for verbs that read no heap
  std::vector<Table> tables;                // the main one first
  u64 exceeded = 0;                         // limits, of verbs that check some
  u64 uncertain = 0;                        // limits that are kept as far as could be read
  u64 unmatched = 0;                        // limits of what nothing here is
  std::string error;                        // why there is none, of one of several targets
  std::string next_command;                 // "dnheap path core --type …"; empty for none
};

} // namespace dnheap::report
