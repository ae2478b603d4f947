// Sink: the destination of a writer's bytes: a C stream or a string. Buffers; reports once, by an Error, that bytes
// cannot be written. Not for several threads at once.
#pragma once
#include "base/error.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace dnheap::report {

// The reader has gone (`dnheap … | head`) and wants no more output; this is not a failure.
class OutputClosed : public Error {
public:
  OutputClosed() : Error("the reader of the output has closed it") {}
};

class Sink {
public:
  // Does not own the stream. `name` is for error texts: "standard output".
  Sink(std::FILE *file, std::string name) : file_(file), name_(std::move(name)) {}
  explicit Sink(std::string &text) : text_(&text) {}
  Sink(const Sink &) = delete;
  Sink &operator=(const Sink &) = delete;

  // Throw Error ("cannot write to NAME: No space left on device"), OutputClosed, or Interrupted if a signal came while
  // the stream blocked. The destructor does not flush, so that it cannot fail a second time while an exception is
  // thrown.
  void write(std::string_view bytes);
  void flush();

private:
  void put(std::string_view bytes);

  std::FILE *file_ = nullptr;
  std::string *text_ = nullptr;
  std::string name_, buffer_;
};

} // namespace dnheap::report
