#include "runtime/coreclr/frame_kinds.h"

#include <string_view>

namespace dnheap {

namespace {

using S = FrameShape;

constexpr FrameKind kinds[] = {
    {.name = "InlinedCallFrame", .shape = S::inlined_call, .number = 1},
    {.name = "ResumableFrame", .shape = S::resumable, .number = 2},
    {.name = "RedirectedThreadFrame", .shape = S::resumable, .number = 3},
    {.name = "FaultingExceptionFrame", .shape = S::faulting_exception, .number = 4},
    {.name = "SoftwareExceptionFrame", .shape = S::software_exception, .number = 5},
    {.name = "FuncEvalFrame", .number = 6},
    {.name = "PInvokeCalliFrame", .shape = S::transition, .number = 7},
    {.name = "HijackFrame", .shape = S::hijack, .number = 8},
    {.name = "PrestubMethodFrame", .shape = S::transition, .number = 9},
    {.name = "CallCountingHelperFrame", .shape = S::transition, .number = 10},
    {.name = "StubDispatchFrame", .shape = S::transition, .number = 11},
    {.name = "ExternalMethodFrame", .shape = S::transition, .number = 12},
    {.name = "DynamicHelperFrame", .shape = S::transition, .number = 13},
    {.name = "ProtectValueClassFrame", .number = 14},
    {.name = "DebuggerClassInitMarkFrame", .number = 15},
    {.name = "DebuggerExitFrame", .number = 16},
    {.name = "DebuggerU2MCatchHandlerFrame", .number = 17},
    {.name = "ExceptionFilterFrame", .number = 18},
    {.name = "HelperMethodFrame", .shape = S::helper_method},
    {.name = "HelperMethodFrame_1OBJ", .shape = S::helper_method, .protected_places = 1},
    {.name = "HelperMethodFrame_2OBJ", .shape = S::helper_method, .protected_places = 2},
    {.name = "HelperMethodFrame_3OBJ", .shape = S::helper_method, .protected_places = 3},
    {.name = "HelperMethodFrame_PROTECTOBJ", .shape = S::helper_method, .protected_places = FrameKind::all},
    {.name = "MulticastFrame", .shape = S::transition},
    {.name = "ProtectByRefsFrame"},
    {.name = "DebuggerSecurityCodeMarkFrame"},
};

constexpr const char *vtable_order[] = {
    "DebuggerClassInitMarkFrame",
    "DebuggerSecurityCodeMarkFrame",
    "DebuggerExitFrame",
    "DebuggerU2MCatchHandlerFrame",
    "FaultingExceptionFrame",
    "FuncEvalFrame",
    "HelperMethodFrame",
    "HelperMethodFrame_1OBJ",
    "HelperMethodFrame_2OBJ",
    "HelperMethodFrame_3OBJ",
    "HelperMethodFrame_PROTECTOBJ",
    "HijackFrame",
    "InlinedCallFrame",
    "MulticastFrame",
    "PInvokeCalliFrame",
    "PrestubMethodFrame",
    "ProtectByRefsFrame",
    "ProtectValueClassFrame",
    "ResumableFrame",
    "RedirectedThreadFrame",
    "StubDispatchFrame",
    "CallCountingHelperFrame",
    "ExternalMethodFrame",
    "DynamicHelperFrame",
    "ExceptionFilterFrame",
};

} // namespace

std::span<const FrameKind> frame_kinds() { return kinds; }

const FrameKind *find_frame_kind(const char *name) {
  for (const FrameKind &kind : kinds)
    if (std::string_view(kind.name) == name)
      return &kind;
  return nullptr;
}

std::span<const char *const> frame_vtable_order() { return vtable_order; }

} // namespace dnheap
