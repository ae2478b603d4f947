// File names of the parts of a .NET runtime, on every system; no other file lists them. One comparison each; any
// thread.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace dnheap {

// CoreCLR itself: libcoreclr.so, coreclr.dll, libcoreclr.dylib.
bool is_core_clr_library(std::string_view file_name);
inline constexpr std::string_view core_clr_on_linux = "libcoreclr.so";
// "libcoreclr.so, coreclr.dll, libcoreclr.dylib": for messages.
std::string core_clr_library_names();
// True for a library whose variables and constants the runtime's descriptor rests on: CoreCLR, or a standalone GC.
bool is_runtime_library(std::string_view file_name);
// True for the double-mapped memory in which CoreCLR keeps code that it made at run time.
bool is_made_code(std::string_view path);
// True for musl's loader, which is musl's C library as well.
bool is_musl_library(std::string_view file_name);
// True for the libraries that find a runtime and load it: hostfxr, hostpolicy.
bool is_host_library(std::string_view file_name);
// True if a Windows library, by its name in lower case, comes with the runtime or is needed by it, and never holds
// metadata.
bool is_native_windows_library(std::string_view lower_case_name);

// Exports of programs that contain their own runtime: NativeAOT, or a single file with CoreCLR in it.
std::span<const char *const> embedded_runtime_exports();

// CoreLib, if it has a file of its own.
inline constexpr std::string_view core_library_name = "System.Private.CoreLib";

} // namespace dnheap
