// Question: the public one, dnheap/question.h, under the names that the parts behind it have.
#pragma once
#ifndef DNHEAP_INSIDE // see dnheap/address.h
#define DNHEAP_INSIDE
#endif
#include "dnheap/question.h"
#include "runtime/gc_data.h"

namespace dnheap {

using v0::Life;
using v0::Question;
using v0::Takes;

inline GCSegmentGeneration inner(v0::Generation generation) { return static_cast<GCSegmentGeneration>(generation); }

} // namespace dnheap
