// ExceptionCause: an unhandled exception in a sentence: the exceptions that caused it, where the innermost one was
// thrown, and the first method of the program itself that it passed through. Reads at most 16 exceptions, and symbols.
// Not for several threads at once.
#pragma once
#include "analysis/threads/exception_objects.h"
#include "snapshot/source_lines.h"

#include <string>
#include <vector>

namespace dnheap {

class ExceptionCause {
public:
  ExceptionCause(const Snapshot &snapshot, ExceptionObjects &objects, SourceLines &lines);

  // Returns "Shop.Failure 0x7f10, caused by System.IO.IOException, thrown in Shop.Mailer.Send() (Mailer.cs:12)".
  std::string text(const ExceptionObject &exception);

private:
  void follow(const ExceptionObject &exception);
  std::string causes() const;
  std::string thrown_in();
  std::string passed_through(u64 from);
  std::string call(const ExceptionObject &of, u64 index);
  std::string async_void(const ExceptionObject &exception);
  bool is_async_void(Address method);

  const Snapshot &snapshot_;
  const Runtime &runtime_;
  ExceptionObjects &objects_;
  SourceLines &lines_;
  std::vector<ExceptionObject> chain_; // outermost first
  bool is_cut_ = false;                // the chain is longer, or a circle
};

} // namespace dnheap
