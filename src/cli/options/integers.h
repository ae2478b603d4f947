// The library's short names for integers, which its public headers do not have. Free of cost.
#pragma once
#include <cstdint>

namespace dnheap::cli {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

} // namespace dnheap::cli
