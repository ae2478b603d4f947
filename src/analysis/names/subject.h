// The word after the target on the command line: an address, or a type's name.
#pragma once
#include "analysis/verb.h"

#include <string_view>

namespace dnheap {

class Snapshot;

// Reads a whole text as an address in the forms of debuggers: "0x7f00c0de", "00007f1b`70030b58", with or without 0x;
// "0n123" is decimal.
std::optional<Address> written_address(std::string_view text);

// Returns the address that a word means: hexadecimal or, if nothing is at that address, decimal. Nullopt if the word is
// not an address, but perhaps a type's name ("Face" has only hexadecimal digits, too).
std::optional<Address> find_address(const Snapshot &snapshot, const std::string &subject);
// The same for verbs that accept only addresses. Throws UsageError.
Address address_of_subject(const Snapshot &snapshot, const Question &question);

// True if it is the address of a MethodTable (in NativeAOT: of an EEType).
bool is_method_table(const Snapshot &snapshot, Address address);

} // namespace dnheap
