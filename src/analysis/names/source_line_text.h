// line_in_brackets(): writes a source line to stand behind the name of its method. Pure; any thread.
#pragma once
#include "snapshot/source_lines.h"

#include <string>

namespace dnheap {

// " (Cart.cs:41)"; empty: the line is unknown.
inline std::string line_in_brackets(const SourceLine &line) { return line ? " (" + line.text() + ")" : ""; }

} // namespace dnheap
