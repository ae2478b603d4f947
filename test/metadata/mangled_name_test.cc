#include "metadata/mangled_name.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

std::optional<UnmangledTypeName> unmangle(std::string_view mangled, u32 hash) {
  u64 steps = 1 << 20;
  return unmangle_type_name(mangled, hash, NativeHashing::whole, steps);
}

struct Known {
  const char *mangled, *name_space;
  std::vector<std::string> levels;
};

// As ILCompiler 8 and 9 mangled them.
const Known all_known[] = {
    {"aot_Aot_Node", "Aot", {"Node"}},
    {"String", "System", {"String"}},
    {"Boxed_Int32", "System", {"Int32"}},
    {"Boxed_Bool", "System", {"Boolean"}},
    {"System___Canon", "System", {"__Canon"}},
    {"S_P_CoreLib_System_Buffers_SharedArrayPool_1___c", "System.Buffers", {"SharedArrayPool`1", "<>c"}},
    {"System_Console_System_ConsolePal___c", "System", {"ConsolePal", "<>c"}},
    {"Boxed_S_P_CoreLib_System_Collections_Generic_Dictionary_2_Enumerator",
     "System.Collections.Generic",
     {"Dictionary`2", "Enumerator"}},
    {"aot_Aot_Roots___c__DisplayClass8_1", "Aot", {"Roots", "<>c__DisplayClass8_1"}},
    {"S_P_CoreLib_System_Enum___c__62_1", "System", {"Enum", "<>c__62`1"}},
    {"S_P_TypeLoader_Internal_Runtime_TypeLoader_TypeBuilder__MethodsToRegister_d__32",
     "Internal.Runtime.TypeLoader",
     {"TypeBuilder", "<MethodsToRegister>d__32"}},
    {"aot__Module_", "", {"<Module>"}},
    {"aot_snake_case", "", {"snake_case"}},
    {"S_P_TypeLoader_Internal_TypeSystem_TypeSystemContext_FunctionPointerRuntimeTypeHandleHashtable",
     "Internal.TypeSystem",
     {"TypeSystemContext", "FunctionPointerRuntimeTypeHandleHashtable"}}};

u32 hash_of(const Known &known) {
  return native_type_hash(UnmangledTypeName{known.name_space, known.levels}.view(), NativeHashing::whole);
}

TEST(MangledName, TheSpellingWithTheHash) {
  for (const Known &known : all_known) {
    SCOPED_TRACE(known.mangled);
    std::optional<UnmangledTypeName> found = unmangle(known.mangled, hash_of(known));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name_space, known.name_space);
    EXPECT_EQ(found->levels, known.levels);
  }
}

// Nothing is guessed: without the hash the likeliest spelling is none.
TEST(MangledName, WithoutTheHashNone) {
  for (const Known &known : all_known)
    for (u32 bit : {0u, 13u, 31u})
      EXPECT_FALSE(unmangle(known.mangled, hash_of(known) ^ (u32{1} << bit))) << known.mangled;
}

TEST(MangledName, WhatIsNoDefinition) {
  for (const char *mangled : {"", "__Array<Char>", "S_P_CoreLib_System_Func_1<Object>", "Boxed_"})
    EXPECT_FALSE(unmangle(mangled, 0)) << mangled;
}

// However many underscores: it ends soon, without an answer.
TEST(MangledName, TooManySpellings) {
  for (const std::string &text : {std::string(500, '_'), std::string(100000, 'a')})
    EXPECT_FALSE(unmangle(text, 1));
  std::string many = "a";
  for (int i = 0; i < 200; ++i)
    many += "_1";
  EXPECT_FALSE(unmangle(many, 1));
}

// What all names together may cost is bounded too; what was found before counts.
TEST(MangledName, StepsOfAllNames) {
  u64 steps = 5000;
  EXPECT_TRUE(unmangle_type_name(all_known[0].mangled, hash_of(all_known[0]), NativeHashing::whole, steps));
  EXPECT_LT(steps, 5000u);
  for (int i = 0; i < 10000; ++i)
    unmangle_type_name(all_known[4].mangled, 1, NativeHashing::whole, steps);
  EXPECT_EQ(steps, 0u);
  EXPECT_FALSE(unmangle_type_name(all_known[0].mangled, hash_of(all_known[0]), NativeHashing::whole, steps));
}

} // namespace
} // namespace dnheap::test
