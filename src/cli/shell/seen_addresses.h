// SeenAddresses: the addresses in the last answer, for completing the next line. They are picked out of the answer's
// text, so that nothing is computed twice. Costs a look at each byte. Not for several threads at once.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace dnheap::cli {

class SeenAddresses {
public:
  static constexpr std::size_t most = 10'000;

  void clear();
  // Takes the next piece of text; keeps words such as 0x7ff3ad1a15d8, in their order, once each.
  void look_at(std::string_view text);
  const std::vector<std::string> &list() const { return list_; }

private:
  std::string word_;       // the word not yet ended
  bool is_escape_ = false; // inside a terminal escape, whose last letter belongs to no word
  std::vector<std::string> list_;
  std::unordered_set<std::string> known_;
};

} // namespace dnheap::cli
