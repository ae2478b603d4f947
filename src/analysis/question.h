// Brings the public Question of dnheap/question.h into namespace dnheap, for all code behind the public headers.
#pragma once
#ifndef DNHEAP_INSIDE // see dnheap/address.h
#define DNHEAP_INSIDE
#endif
#include "dnheap/question.h"
#include "runtime/facts/gc_data.h"

namespace dnheap {

using v0::Life;
using v0::Question;
using v0::Takes;

inline GCSegmentGeneration inner(v0::Generation generation) { return static_cast<GCSegmentGeneration>(generation); }

} // namespace dnheap
