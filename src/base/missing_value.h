// MissingValue: the runtime's description lacks a value or a contract that dnheap needs. Keeps its name in addition to
// the text, so that notes about the same value can be matched by the name.
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
