// What the library throws: Error and what derives from it, and std::bad_alloc. Error means "cannot go on": its text is
// a whole sentence for the user: what was read, where, why it failed, what to do. What may be absent is a
// std::optional, and damage in a dump is data (Gap, Completeness), not an Error. The library never prints and never
// exits.
#pragma once
#include <stdexcept>
#include <string>

#ifndef DNHEAP_INSIDE // the library's own sources have the same classes from base/error.h

namespace dnheap {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &what) : std::runtime_error(what) {}
};

// The question was asked wrongly (an unknown column, two runtimes to choose from): the user can mend it, the dump not.
class UsageError : public Error {
public:
  using Error::Error;
};

// What was asked for (an address, a type) is not in the target, though the question is a sound one.
class NotFound : public Error {
public:
  using Error::Error;
};

// Thrown by a long pass when whoever watches its Progress asked it to stop.
class Interrupted : public Error {
public:
  Interrupted() : Error("interrupted") {}
};

} // namespace dnheap
#endif
