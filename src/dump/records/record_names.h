// RecordNames: gives each name of a HeapRecord's roots one number. One thread.
#pragma once
#include "target/heap_record.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace dnheap {

class RecordNames {
public:
  explicit RecordNames(HeapRecord &record) : record_(record) {}

  // Returns the index into HeapRecord::names; adds a name that is not there yet.
  u32 number_of(std::string name) {
    const auto [at, is_new] = numbers_.try_emplace(std::move(name), static_cast<u32>(record_.names.size()));
    if (is_new)
      record_.names.push_back(at->first);
    return at->second;
  }

private:
  HeapRecord &record_;
  std::unordered_map<std::string, u32> numbers_;
};

} // namespace dnheap
