// Unreadable: the target lacks memory that is needed, whatever else is sound. Thrown by Memory (memory.h).
#pragma once
#include "base/error.h"

namespace dnheap {

class Unreadable : public Error {
public:
  using Error::Error;
};

} // namespace dnheap
