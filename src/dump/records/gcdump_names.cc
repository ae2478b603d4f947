#include "dump/records/gcdump_names.h"

namespace dnheap {

namespace {

std::string_view without_size_class(std::string_view name) {
  const std::size_t at = name.rfind(" (Bytes > ");
  return at != name.npos && name.ends_with(')') ? name.substr(0, at) : name;
}

// Returns the length of "<,,>" at the front; 0: there is none.
std::size_t length_of_rank(std::string_view name) {
  const std::size_t commas = name.find_first_not_of(',', 1);
  return name[0] == '<' && commas != name.npos && commas > 1 && name[commas] == '>' ? commas + 1 : 0;
}

bool begins_identifier(std::string_view name) {
  return !name.empty() && (name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
}

} // namespace

std::string restored_type_name(std::string_view name) {
  name = without_size_class(name);
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (const std::size_t rank = length_of_rank(name.substr(i))) {
      out += "[" + std::string(rank - 2, ',') + "]";
      i += rank - 1;
    } else if (name.substr(i).starts_with("[]") && begins_identifier(name.substr(i + 2))) {
      out += "<>"; // of a name that the compiler made
      ++i;
    } else {
      depth += (c == '<') - (c == '>');
      out += c;
      if (c == ',' && depth > 0 && i + 1 < name.size() && name[i + 1] != ' ')
        out += ' ';
    }
  }
  return out;
}

} // namespace dnheap
