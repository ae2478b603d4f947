// Unreadable: memory that is needed is not in the target, although the rest is valid. Thrown by Memory (memory.h).
#pragma once
#include "base/error.h"

namespace dnheap {

class Unreadable : public Error {
public:
  using Error::Error;
};

} // namespace dnheap
