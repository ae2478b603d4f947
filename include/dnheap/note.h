// Note: what is missing or odd in a result, as data. A result is complete if none of its notes has an effect.
#pragma once
#include "dnheap/address.h"

#include <string>

namespace dnheap::DNHEAP_ABI {

struct Note {
  // The topic: "threads", "statics", "modules", …: the words that "noted" in doc/schema lists.
  std::string subject = {};
  std::string effect = {}; // "none"; "numbers": counts and sizes may be wrong; "liveness": what is alive may look dead
  std::string text = {};   // a whole phrase for people; includes topic and remedy
  std::string remedy = {}; // what to do; empty: nothing is known
};

} // namespace dnheap::DNHEAP_ABI
