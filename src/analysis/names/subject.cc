#include "analysis/names/subject.h"

#include "base/error.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <charconv>

namespace dnheap {

namespace {

std::optional<u64> number(std::string_view digits, int base) {
  u64 value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

bool has_prefix(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

} // namespace

std::optional<Address> written_address(std::string_view text) {
  if (text.starts_with("0n"))
    return number(text.substr(2), 10);
  if (has_prefix(text))
    text.remove_prefix(2);
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == '`' || c == '_'; });
  return number(digits, 16);
}

std::optional<Address> find_address(const Snapshot &snapshot, const std::string &subject) {
  if (!has_prefix(subject) && subject.find_first_of("0123456789") == std::string::npos)
    return std::nullopt;
  const std::optional<Address> hex = written_address(subject), decimal = number(subject, 10);
  auto leads_somewhere = [&](std::optional<Address> address) {
    return address && (snapshot.heap().holds(*address) || is_method_table(snapshot, *address));
  };
  return decimal && (!hex || (!leads_somewhere(hex) && leads_somewhere(decimal))) ? decimal : hex;
}

Address address_of_subject(const Snapshot &snapshot, const Question &question) {
  if (std::optional<Address> address = find_address(snapshot, question.subject))
    return *address;
  throw UsageError("'" + question.subject +
                   "' is not an address such as 0x7f00c0de1234; dnheap objects --type lists those of a type");
}

bool is_method_table(const Snapshot &snapshot, Address address) {
  return address % snapshot.runtime().memory().format().pointer_size == 0 &&
         snapshot.runtime().types().object_layout(address).has_value();
}

} // namespace dnheap
