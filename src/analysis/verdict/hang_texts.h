// HangTexts: sentences of the longer verdicts about hangs: where workers of the thread pool stand and what to change
// there, who waits behind whom. Plain facts in, text out; any thread.
#pragma once
#include "analysis/verdict/verdict.h"

namespace dnheap {

std::string pool_text(const HangFacts &facts);
std::string contended_text(const HangFacts &facts);
std::string chain_text(const HangFacts &facts);
std::string lost_text(const HangFacts &facts);
std::string console_text(const HangFacts &facts);

} // namespace dnheap
