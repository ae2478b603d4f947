// What the files are called that a .NET runtime consists of, on every system: the one place that knows. A comparison
// each; any thread.
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
// A library whose variables and constants the runtime's description rests on: CoreCLR, or a GC of its own.
bool is_runtime_library(std::string_view file_name);
// The memory where CoreCLR has the code that it made itself, mapped twice.
bool is_made_code(std::string_view path);
// musl: its loader is its C library, too.
bool is_musl_library(std::string_view file_name);
// What finds a runtime and loads it: hostfxr, hostpolicy.
bool is_host_library(std::string_view file_name);
// Is a Windows library, by its name in lower case, one that comes with the runtime, or that it needs, and never holds
// metadata?
bool is_native_windows_library(std::string_view lower_case_name);

// What a program exports that brings its own runtime: NativeAOT, or a single file with CoreCLR in it.
std::span<const char *const> embedded_runtime_exports();

// CoreLib, where it has a file of its own.
inline constexpr std::string_view core_library_name = "System.Private.CoreLib";

} // namespace dnheap
