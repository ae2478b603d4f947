#include "analysis/verdict/collected_delegate.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace dnheap {

namespace {

constexpr u64 most_of_stack = 64 << 10, longest_delegate_type = 512; // bytes; characters
constexpr std::string_view said_of_delegate = "A callback was made on a garbage collected delegate of type '";

// The runtime's text is UTF-16. Characters of names beyond ASCII are rare, and become '?'.
std::string text_of_message(Bytes bytes, ByteOrder order) {
  std::string out;
  for (u64 at = 0; at + 2 <= bytes.size(); at += 2) {
    const u16 character = load<u16>(bytes.data() + at, order);
    if (!character)
      break;
    out += character < 0x80 ? static_cast<char>(character) : '?';
  }
  return out;
}

bool begins_message(Bytes bytes, ByteOrder order) {
  const u64 size = 2 * said_of_delegate.size();
  return bytes.size() >= size && load<u16>(bytes.data(), order) == u16{'A'} &&
         text_of_message(bytes.first(size), order) == said_of_delegate;
}

// Takes "'Shop!Shop.Reading::Invoke'." without its first quote: module, type, method.
std::string type_of_message(std::string_view quoted) {
  quoted = quoted.substr(0, quoted.find('\''));
  if (const u64 method = quoted.rfind("::"); method != quoted.npos)
    quoted = quoted.substr(0, method);
  if (const u64 module = quoted.find('!'); module != quoted.npos)
    quoted.remove_prefix(module + 1);
  return printable(quoted, longest_delegate_type);
}

std::string type_at(const Memory &memory, Address message) {
  const u64 size = 2 * (said_of_delegate.size() + longest_delegate_type);
  const Bytes bytes = memory.peek_up_to(message, size);
  if (!begins_message(bytes, memory.format().byte_order))
    return "";
  memory.note_read(message, bytes.size());
  return type_of_message(text_of_message(bytes, memory.format().byte_order).substr(said_of_delegate.size()));
}

} // namespace

std::string collected_delegate(const Memory &memory, Address from, Address to) {
  const u64 p = memory.format().pointer_size;
  const Bytes stack = memory.peek_up_to(from, std::min(to - std::min(from, to), most_of_stack));
  for (u64 at = 0; at + 2 <= stack.size(); at += 2) {
    std::string found = type_at(memory, from + at);
    if (found.empty() && at % p == 0 && at + p <= stack.size())
      if (const Address pointer = load_pointer(stack.data() + at, memory.format()); pointer % 2 == 0)
        found = type_at(memory, pointer);
    if (!found.empty()) {
      memory.note_read(from + at, p);
      return found;
    }
  }
  return "";
}

} // namespace dnheap
