#include "analysis/threads/thread_names.h"

#include <utility>

namespace dnheap {

void ThreadNames::add(std::string name, std::string number) {
  ++counts_[name];
  names_.push_back(std::move(name));
  numbers_.push_back(std::move(number));
}

std::string ThreadNames::short_name(u32 thread) const {
  const std::string &name = names_.at(thread), &number = numbers_.at(thread);
  return is_known_by_name(thread) ? name : name.empty() ? number : number + " (" + name + ")";
}

std::string ThreadNames::called(u32 thread) const {
  return (is_known_by_name(thread) ? "" : "thread ") + short_name(thread);
}

std::string ThreadNames::with_method(u32 thread, const std::string &method) const {
  const std::string &shortest = is_known_by_name(thread) ? names_.at(thread) : numbers_.at(thread);
  return method.empty() ? short_name(thread) : shortest + " (" + method + ")";
}

bool ThreadNames::is_known_by_name(u32 thread) const {
  const std::string &name = names_.at(thread);
  return !name.empty() && counts_.at(name) == 1;
}

std::string as_sentence(std::string words) {
  if (words.starts_with("thread "))
    words.front() = 'T';
  else if (words.starts_with("a lambda "))
    words.front() = 'A';
  return words;
}

} // namespace dnheap
