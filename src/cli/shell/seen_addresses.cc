#include "cli/shell/seen_addresses.h"

namespace dnheap::cli {

namespace {

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_address(std::string_view word) {
  return word.starts_with("0x") && word.size() >= 8 && word.size() <= 18 &&
         word.find_first_not_of("0123456789abcdef", 2) == word.npos;
}

} // namespace

void SeenAddresses::clear() {
  word_.clear();
  list_.clear();
  known_.clear();
}

void SeenAddresses::look_at(std::string_view text) {
  for (char c : text) {
    if (is_escape_) {
      is_escape_ = !is_word(c) || (c >= '0' && c <= '9');
      continue;
    }
    is_escape_ = c == '\x1b';
    if (is_word(c)) {
      if (word_.size() < 32)
        word_ += c;
      continue;
    }
    if (is_address(word_) && list_.size() < most && known_.insert(word_).second)
      list_.push_back(word_);
    word_.clear();
  }
}

} // namespace dnheap::cli
