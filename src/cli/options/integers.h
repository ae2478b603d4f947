// Integers under the short names that the library has for them, which the program does not see. Free of cost.
#pragma once
#include <cstdint>

namespace dnheap::cli {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

} // namespace dnheap::cli
