#include "analysis/names/brief_type_name.h"

#include "analysis/names/compiled_names.h"
#include "analysis/names/framework_names.h"

namespace dnheap {

std::string brief_type_name(std::string_view type) {
  if (const std::string call = call_of_box(type); !call.empty())
    return "async call of " + call; // perhaps completed, but kept alive with its task
  if (is_of_suspended_call(type))   // calls of several methods have this type
    return "pending runtime-async call";
  std::string out;
  std::string word;
  auto flush = [&] {
    const bool is_a_name = word.find("!0x") == word.npos; // not a module and a row number
    out += is_a_name && has_framework_namespace(word) ? word.substr(word.rfind('.') + 1) : word;
    word.clear();
  };
  for (char c : type) {
    if (c == '<' || c == '>' || c == ',' || c == ' ' || c == '[' || c == ']') {
      flush();
      out += c;
    } else {
      word += c;
    }
  }
  flush();
  return out;
}

} // namespace dnheap
