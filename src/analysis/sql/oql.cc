#include "analysis/sql/oql.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

bool is_oql_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Moves the first word from `rest`; empty at the end.
std::string_view take_oql_word(std::string_view &rest) {
  while (!rest.empty() && is_oql_space(rest.front()))
    rest.remove_prefix(1);
  std::size_t size = 0;
  while (size < rest.size() && !is_oql_space(rest[size]))
    ++size;
  const std::string_view word = rest.substr(0, size);
  rest.remove_prefix(size);
  return word;
}

// `small` has small letters alone.
bool is_oql_word(std::string_view word, std::string_view small) {
  if (word.size() != small.size())
    return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]) != small[i])
      return false;
  return true;
}

} // namespace

std::string instead_of_oql(std::string_view question) {
  bool is_oql = question.find('@') != question.npos; // s.@retainedHeapSize
  std::string_view rest = question, word;
  while (!(word = take_oql_word(rest)).empty() && !is_oql_word(word, "from"))
    ;
  word = take_oql_word(rest);
  std::string_view behind = rest;
  const std::string_view next = take_oql_word(behind);
  if (is_oql_word(word, "instanceof") || is_oql_word(word, "implements") ||
      (is_oql_word(word, "objects") && next.find('.') != next.npos)) { // that is a table here, too
    word = next;
    is_oql = true;
  }
  word.remove_prefix(std::min(word.find_first_not_of("\"'("), word.size()));
  const std::string type = printable(word.substr(0, word.find_first_of("();,\"'")));
  is_oql = is_oql || type.find('.') != type.npos;
  if (!is_oql || type.empty())
    return "";
  return "; this looks like OQL, but tables stand behind FROM here, not types: dnheap objects TARGET --type-exact " +
         type +
         " lists the objects of a type (--fields NAMES their fields), and so does SQL: select o.* from objects o " +
         "join types t on t.id = o.type where t.name = '" + type + "'";
}

} // namespace dnheap
