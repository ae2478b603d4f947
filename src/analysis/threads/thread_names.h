// ThreadNames: how sentences call threads: by their name, but by their number, too, where several have that name, as
// the workers of the pool do. Plain data; any thread.
#pragma once
#include "base/integers.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap {

class ThreadNames {
public:
  // Adds the next thread. `name`: empty if it has none.
  void add(std::string name, std::string number);
  // "Loader", "4711", "4711 (.NET TP Worker)"
  std::string short_name(u32 thread) const;
  // "Loader", "thread 4711", "thread 4711 (.NET TP Worker)"
  std::string called(u32 thread) const;
  // "Loader (Shop.LoadAsync)", "4711 (Shop.LoadAsync)": with what it does, which says more than a name of several.
  std::string with_method(u32 thread, const std::string &method) const;

private:
  bool is_known_by_name(u32 thread) const;

  std::vector<std::string> names_, numbers_; // by thread
  std::map<std::string, u64> counts_;        // by name
};

// "Thread 4711 waits for a lock" for the same without a capital letter; what begins with a name stays as it is.
std::string as_sentence(std::string words);

} // namespace dnheap
