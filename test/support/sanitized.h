// Was the library built with a sanitizer? GCC and Clang say so differently; DNHEAP_SANITIZED says so where only the
// library was.
#pragma once

#if !defined(__has_feature)
#define __has_feature(what) 0
#endif

namespace dnheap::test {

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
// Processes have terabytes of shadow memory and a thread more than they know of, and get their signals late.
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

// Memory is dear, programs are slow.
#if defined(DNHEAP_SANITIZED) || defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = thread_sanitized;
#endif

} // namespace dnheap::test
