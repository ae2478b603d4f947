// Sink: where a writer's bytes go: a C stream or a string. Buffers; says once, by an Error, when bytes cannot be
// written. One thread.
#pragma once
#include "base/error.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace dnheap::report {

// The reader went away (`dnheap … | head`): nothing more is wanted, which is no failure.
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

  // Throw Error ("cannot write to NAME: No space left on device"), OutputClosed, or Interrupted when a signal came
  // while the stream kept us waiting. What was not flushed when the Sink goes away is lost, so that an exception's way
  // out cannot fail a second time.
  void write(std::string_view bytes);
  void flush();

private:
  void put(std::string_view bytes);

  std::FILE *file_ = nullptr;
  std::string *text_ = nullptr;
  std::string name_, buffer_;
};

} // namespace dnheap::report
