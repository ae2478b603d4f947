// The addresses that an answer showed, for who types the next line: picked out of its text, so that nothing is asked
// twice. Costs a look at each byte; one thread.
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
  // Text as it comes: words such as 0x7ff3ad1a15d8, in their order, once each.
  void look_at(std::string_view text);
  const std::vector<std::string> &list() const { return list_; }

private:
  std::string word_;       // that has not ended yet
  bool is_escape_ = false; // within a terminal's escape: its last letter is no part of a word
  std::vector<std::string> list_;
  std::unordered_set<std::string> known_;
};

} // namespace dnheap::cli
