// The version of dnheap that these headers belong to. Within a minor version the interface only grows; another minor
// version is another library (SOVERSION) and may have changed anything. Costs nothing.
#pragma once

#define DNHEAP_VERSION_MAJOR 0
#define DNHEAP_VERSION_MINOR 1
#define DNHEAP_VERSION_PATCH 0

// For preprocessors: #if DNHEAP_VERSION_NUMBER >= 0x000100 (a byte each).
#define DNHEAP_VERSION_NUMBER (DNHEAP_VERSION_MAJOR << 16 | DNHEAP_VERSION_MINOR << 8 | DNHEAP_VERSION_PATCH)

namespace dnheap {

// Returns "0.1.0": the version of the linked library, which may differ from that of the headers.
const char *library_version();

} // namespace dnheap
