#include "base/error.h"
#include "base/host/local_listener.h"

namespace dnheap {

LocalListener::LocalListener(const std::string &path) : path_(path) {
  throw Error("nothing can listen on " + path + ": on this system that is not supported yet");
}
LocalListener::~LocalListener() = default;
std::optional<LocalSocket> LocalListener::accept(double) const { return std::nullopt; }

} // namespace dnheap
