#include "runtime/vm/frame_kinds.h"

#include <string_view>

namespace dnheap {

namespace {

using S = FrameShape;

constexpr FrameKind kinds[] = {
    {.name = "InlinedCallFrame", .shape = S::inlined_call, .number = 1, .number_with_com = 1},
    {.name = "ResumableFrame", .shape = S::resumable, .number = 2, .number_with_com = 2},
    {.name = "RedirectedThreadFrame", .shape = S::resumable, .number = 3, .number_with_com = 3},
    {.name = "FaultingExceptionFrame", .shape = S::faulting_exception, .number = 4, .number_with_com = 4},
    {.name = "SoftwareExceptionFrame", .shape = S::software_exception, .number = 5, .number_with_com = 5},
    {.name = "FuncEvalFrame", .number = 6, .number_with_com = 6},
    {.name = "PInvokeCalliFrame", .shape = S::transition, .number = 7, .number_with_com = 10},
    {.name = "HijackFrame", .shape = S::hijack, .number = 8, .number_with_com = 11},
    {.name = "PrestubMethodFrame", .shape = S::transition, .number = 9, .number_with_com = 12},
    {.name = "CallCountingHelperFrame", .shape = S::transition, .number = 10, .number_with_com = 13},
    {.name = "StubDispatchFrame", .shape = S::transition, .number = 11, .number_with_com = 14},
    {.name = "ExternalMethodFrame", .shape = S::transition, .number = 12, .number_with_com = 15},
    {.name = "DynamicHelperFrame", .shape = S::transition, .number = 13, .number_with_com = 16},
    {.name = "ProtectValueClassFrame", .number = 14, .number_with_com = 17},
    {.name = "DebuggerClassInitMarkFrame", .number = 15, .number_with_com = 18},
    {.name = "DebuggerExitFrame", .number = 16, .number_with_com = 19},
    {.name = "DebuggerU2MCatchHandlerFrame", .number = 17, .number_with_com = 20},
    {.name = "ExceptionFilterFrame", .number = 18, .number_with_com = 21},
    {.name = "ComMethodFrame", .number_with_com = 7},
    {.name = "CLRToCOMMethodFrame", .shape = S::transition, .number_with_com = 8},
    {.name = "ComPrestubMethodFrame", .number_with_com = 9},
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
    "ComMethodFrame",
    "CLRToCOMMethodFrame",
    "ComPrestubMethodFrame",
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
