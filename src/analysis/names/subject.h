// What stands behind the target on the command line: an address, or a type's name.
#pragma once
#include "analysis/verb.h"

#include <string_view>

namespace dnheap {

class Snapshot;

// All of the text, as debuggers print and take it: "0x7f00c0de", "00007f1b`70030b58", with or without 0x; "0n123" is
// decimal.
std::optional<Address> written_address(std::string_view text);

// The address that a word is: hexadecimal or, where nothing lies at that, decimal. Nullopt: something else, a type's
// name perhaps ("Face" has only hexadecimal digits too).
std::optional<Address> find_address(Snapshot &snapshot, const std::string &subject);
// The same for verbs that take nothing else. Throws UsageError.
Address address_of_subject(Snapshot &snapshot, const Question &question);

// Is it the address of a MethodTable (of an EEType, in NativeAOT)?
bool is_method_table(Snapshot &snapshot, Address address);

} // namespace dnheap
