// What stands behind the target on the command line: an object's address, or a type's name.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

// "0x7f00c0de", "7f00c0de"; nullopt: something else, a type's name perhaps.
std::optional<Address> find_address(const std::string &subject);
// The same for verbs that take nothing else. Throws UsageError.
Address address_of_subject(const Question &question);

} // namespace dnheap
