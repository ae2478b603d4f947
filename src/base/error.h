// The one exception of the library: "cannot go on". Its text is a whole sentence for the user: what was read, where,
// why it failed, what to do. What may be absent is a std::optional, and damage in a target is data (Gap), not an Error.
// Caught only at the boundary: cli/main.cc, or whoever embeds the library.
#pragma once
#include <stdexcept>
#include <string>

namespace dnheap {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &what) : std::runtime_error(what) {}
};

// The question was asked wrongly (an unknown column, two runtimes to choose from): the user can mend it, the target
// not.
class UsageError : public Error {
public:
  using Error::Error;
};

// Thrown by a long pass when whoever watches its Progress asked it to stop.
class Interrupted : public Error {
public:
  Interrupted() : Error("interrupted") {}
};

} // namespace dnheap
