// readable_symbol: a symbol of a C++ function as people write it: namespaces, classes and function, without types:
// "_ZN7CorUnix10CPalThread11ThreadEntryEPv" and "?ThreadEntry@CPalThread@CorUnix@@SAPAXPAX@Z" are
// "CorUnix::CPalThread::ThreadEntry". Symbols come from untrusted files,
// and a full demangler may turn 200 characters into gigabytes: this one only takes names out, in linear time. Any
// thread. Formats: Itanium C++ ABI, "Mangling"; of Microsoft's, names alone.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// Returns other symbols, and those in which it finds no name, as they are.
std::string readable_symbol(std::string_view symbol);

} // namespace dnheap
