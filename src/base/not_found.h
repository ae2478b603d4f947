// What was asked for (an address, a type) is not in the target, though the question is a sound one. Apart from error.h,
// which everything includes, since only those who look something up need it.
#pragma once
#include "base/error.h"

namespace dnheap {

class NotFound : public Error {
public:
  using Error::Error;
};

} // namespace dnheap
