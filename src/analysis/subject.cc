#include "analysis/subject.h"

#include "base/error.h"

#include <charconv>

namespace dnheap {

std::optional<Address> find_address(const std::string &subject) {
  std::string_view digits = subject;
  if (digits.starts_with("0x") || digits.starts_with("0X"))
    digits.remove_prefix(2);
  // As debuggers print them: 00007f1b`70030b58.
  std::string plain;
  for (char c : digits)
    if (c != '`' && c != '_')
      plain += c;
  Address value = 0;
  auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, 16);
  if (plain.empty() || error != std::errc() || end != plain.data() + plain.size())
    return std::nullopt;
  return value;
}

Address address_of_subject(const Question &question) {
  if (std::optional<Address> address = find_address(question.subject))
    return *address;
  throw UsageError("'" + question.subject +
                   "' is not an address such as 0x7f00c0de1234; dnheap objects --type lists those of a type");
}

} // namespace dnheap
