// Writes contract descriptors for tests: the JSON of what was put into a DescriptorWriter, and the struct, JSON and
// pointer data that make a descriptor in memory. contract-descriptor.md, data_descriptor.md.
#pragma once
#include "support/block.h"

#include <map>
#include <string>

namespace dnheap::test {

struct DescriptorWriter {
  u64 version = 2; // 0: contract versions are integers; 2: they are strings
  std::map<std::string, std::map<std::string, i64>> types = {};
  std::map<std::string, u64> sizes = {};   // of types
  std::map<std::string, u64> numbers = {}; // direct globals
  std::map<std::string, std::string> texts = {};
  std::map<std::string, Address> pointers = {};           // indirect globals: the address of a variable
  std::map<std::string, Address> sub_descriptors = {};    // the address of a variable
  std::vector<std::string> contracts = {};                // of version 1
  std::map<std::string, std::string> more_contracts = {}; // with their versions as JSON: "\"n1\"", "1001"

  // Gives a contract another version than it has, or adds it.
  void set_contract(const std::string &name, const std::string &json_version) {
    std::erase(contracts, name);
    more_contracts[name] = json_version;
  }

  // `pointer_data` receives what the indirect values index.
  std::string json(std::vector<u64> &pointer_data) const;
};

// Puts struct and pointer data into `data`, the text into `constants`; returns the address of the struct.
// `relocated` receives the places of the words that a loader would relocate.
Address write_descriptor(Block &data, Block &constants, std::string_view json, const std::vector<u64> &pointer_data,
                         std::vector<Address> *relocated = nullptr);

} // namespace dnheap::test
