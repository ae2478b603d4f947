// Errors that the library throws: Error and classes derived from it, and std::bad_alloc. Error means "cannot go on".
// Its text is a whole sentence for the user: what was read, where, why it failed, what to do. Values that may be absent
// are a std::optional, and damage in a dump is data (Gap, Completeness), not an Error. The library never prints and
// never exits.
#pragma once
#include <stdexcept>
#include <string>

#ifndef DNHEAP_INSIDE // the library's own sources have the same classes from base/error.h

namespace dnheap {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &what) : std::runtime_error(what) {}
};

// The question was wrong (an unknown column, two runtimes to choose from): the user can correct it; the dump is not at
// fault.
class UsageError : public Error {
public:
  using Error::Error;
};

// The requested item (an address, a type) is not in the target, although the question is valid.
class NotFound : public Error {
public:
  using Error::Error;
};

// Thrown by a long pass when the owner of its Progress cancelled it.
class Interrupted : public Error {
public:
  Interrupted() : Error("interrupted") {}
};

} // namespace dnheap
#endif
