#include "c/calls.h"

#include "dnheap/text.h"

#include <new>
#include <string>
#include <system_error>

namespace dnheap::c {

namespace {

// The last error of a thread. If there is no memory even for the text, the code's general text is used.
struct LastError {
  std::string text;
  const char *fixed = "";
};
thread_local LastError last;

int failed(int code, const char *text) noexcept {
  last.fixed = dnheap_code_text(code);
  try {
    last.text = printable_text(text); // file names may have any bytes
    last.fixed = nullptr;
  } catch (const std::bad_alloc &) {
  }
  return code;
}

} // namespace

int guarded(const std::function<void()> &work) noexcept {
  try {
    work();
    return DNHEAP_OK;
  } catch (const UsageError &error) {
    return failed(DNHEAP_WRONG_USAGE, error.what());
  } catch (const NotFound &error) {
    return failed(DNHEAP_NOT_FOUND, error.what());
  } catch (const Interrupted &error) {
    return failed(DNHEAP_INTERRUPTED, error.what());
  } catch (const Error &error) {
    return failed(DNHEAP_CANNOT, error.what());
  } catch (const std::bad_alloc &) {
    return failed(DNHEAP_NO_MEMORY, "out of memory: this needs more than the machine, or max_memory, allows");
  } catch (const std::system_error &error) {
    return failed(DNHEAP_CANNOT, error.what());
  } catch (const std::exception &error) {
    return failed(DNHEAP_INTERNAL, error.what());
  } catch (...) {
    return failed(DNHEAP_INTERNAL, "an unknown exception");
  }
}

void require(const char *function, std::initializer_list<Pointer> pointers) {
  for (const Pointer &pointer : pointers)
    if (!pointer.value)
      throw UsageError(std::string(function) + ": " + pointer.name + " is null");
}

} // namespace dnheap::c

const char *dnheap_error(void) { return dnheap::c::last.fixed ? dnheap::c::last.fixed : dnheap::c::last.text.c_str(); }

const char *dnheap_code_text(int code) {
  switch (code) {
  case DNHEAP_OK: return "no error";
  case DNHEAP_WRONG_USAGE: return "wrong usage";
  case DNHEAP_CANNOT: return "cannot open, understand, read or write";
  case DNHEAP_NOT_FOUND: return "not found";
  case DNHEAP_NO_MEMORY: return "out of memory";
  case DNHEAP_INTERNAL: return "internal error, please report it";
  case DNHEAP_INTERRUPTED: return "interrupted";
  default: return "not a code of dnheap";
  }
}
