#include "support/damage.h"

#include <algorithm>

namespace dnheap::test {

std::vector<std::byte> damaged(std::vector<std::byte> file, std::mt19937 &random) {
  for (auto hits = 1 + random() % 6; hits; --hits)
    file[random() % file.size()] = static_cast<std::byte>(random() % 3 ? random() : 0xff);
  if (random() % 4 == 0)
    file.resize(random() % file.size());
  return file;
}

bool has_note(const Target &target, std::string_view part) {
  return std::any_of(target.notes.begin(), target.notes.end(),
                     [&](const Note &note) { return note.text.find(part) != note.text.npos; });
}

} // namespace dnheap::test
