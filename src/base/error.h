// Error: the one exception of the library: "cannot go on". Its text is a whole sentence for the user: what was read,
// where, why it failed, what to do. Values that may be absent are a std::optional, and damage in a target is data
// (Gap), not an Error. Caught only at the boundary: cli/main.cc, or the program that embeds the library.
#pragma once
#include <stdexcept>
#include <string>

namespace dnheap {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &what) : std::runtime_error(what) {}
};

// The system does not let this program read a process's memory, or stop its threads.
class Forbidden : public Error {
public:
  using Error::Error;
};

// The question was wrong (an unknown column, two runtimes to choose from): the user can correct it; the target is not
// at fault.
class UsageError : public Error {
public:
  using Error::Error;
};

// Thrown by a long pass when the owner of its Progress cancelled it.
class Interrupted : public Error {
public:
  Interrupted() : Error("interrupted") {}
};

} // namespace dnheap
