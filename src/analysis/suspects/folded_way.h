// folded_way(): fields from one object to the next, shortened for people. The inside of a dictionary becomes "[*]", and
// a chain of one field its number. Text in, text out; any thread.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// "._sessions._tables._buckets[*]._node._value" → "._sessions[*]"; "._next._next._next._next._next" → "._next (5 ×)"
std::string folded_way(std::string_view fields);

} // namespace dnheap
