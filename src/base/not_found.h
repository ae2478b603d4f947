// NotFound: the requested item (an address, a type) is not in the target, although the question is valid. Not in
// error.h, which everything includes, since only look-ups need it.
#pragma once
#include "base/error.h"

namespace dnheap {

class NotFound : public Error {
public:
  using Error::Error;
};

} // namespace dnheap
