// MissingValue: the runtime's description lacks a value or a contract, without which there is no going on. Its name is
// kept beside the sentence, so that notes about one value can be matched without a search in their texts.
#pragma once
#include "base/error.h"

namespace dnheap {

class MissingValue : public Error {
public:
  MissingValue(const std::string &what, std::string name) : Error(what), name_(std::move(name)) {}

  const std::string &name() const { return name_; }

private:
  std::string name_;
};

// Returns the value's name; empty for other errors.
inline std::string name_of_missing(const Error &error) {
  const auto *missing = dynamic_cast<const MissingValue *>(&error);
  return missing ? missing->name() : std::string();
}

} // namespace dnheap
