#!/usr/bin/env python3
"""Tests how stacks.py compares names, which ClrMD, stack traces and dnheap spell in three ways; and references."""
import unittest

import stacks


class Names(unittest.TestCase):
    def test_three_spellings_of_one_method(self):
        clrmd = "Stacks.Box`1+Inner`1[[System.__Canon, System.Private.CoreLib],[System.Int32, X]].Hold(System.__Canon, Int32 ByRef, Int32[], List`1<Int32[]>)"
        ours = "Stacks.Box<System.__Canon>+Inner<System.Int32>.Hold(System.__Canon, System.Int32&, System.Int32[], System.Collections.Generic.List<System.Int32[]>)"
        expected = ("Stacks.Box.Inner.Hold", ["__Canon", "Int32&", "Int32[]", "List"])
        self.assertEqual(stacks.method_name(clrmd), expected)
        self.assertEqual(stacks.method_name(ours), expected)
        self.assertEqual(stacks.trace_name("Stacks.Box`1.Inner`1.Hold(T value, Int32& number) in /a/b.cs:line 3"), expected[0])

    def test_parameters_tell_methods_apart(self):
        self.assertNotEqual(stacks.method_name("A.B(Int32)"), stacks.method_name("A.B(Int32[])"))
        self.assertNotEqual(stacks.method_name("A.B(Int32)"), stacks.method_name("A.B(Int32 ByRef)"))
        self.assertNotEqual(stacks.method_name("A.B()"), stacks.method_name("A.B(Int32)"))
        self.assertEqual(stacks.method_name("A.B(A+C ByRef)"), stacks.method_name("A.B(N.A+C&)"))

    def test_what_compilers_make(self):
        self.assertEqual(stacks.trace_name("Stacks.Calls.<>c__DisplayClass48_0.<Lambda>b__0(Lambda held)"),
                         stacks.frame_name("Stacks.Calls+<>c__DisplayClass48_0.<Lambda>b__0(Held.Lambda)"))
        self.assertEqual(stacks.frame_name("Stacks.Asynchronous+<WaitsAtOnce>d__0.MoveNext()"), "Stacks.Asynchronous.WaitsAtOnce")
        self.assertEqual(stacks.trace_name("Stacks.Funclets.Iterates()+<>m__Finally1()"),
                         stacks.frame_name("Stacks.Funclets+<Iterates>d__21.<>m__Finally1()"))
        self.assertEqual(stacks.frame_name("Stacks.Box<System.__Canon>.Stacks.IWaits<T>.Wait(System.__Canon)"), "Stacks.Box.Stacks.IWaits.Wait")
        self.assertEqual(stacks.frame_name("DynamicClass.MadeAtRunTime(System.String)"), stacks.trace_name("MadeAtRunTime(String)"))
        self.assertEqual(stacks.frame_name("[InlinedCallFrame] A.B(Int32[])"), "A.B")
        self.assertEqual(stacks.frame_name("Program.<Main>$(System.String[])"), "Program.<Main>$")


def row(slot, value, **more):
    return {"address": slot, "object": value, "interior": False, "pinned": False, "register": None, "certain": True, **more}


class References(unittest.TestCase):
    def test_by_slot_and_flags(self):
        rows = [row("0x10", "0x1", pinned=True), row("0x10", "0x1"), row("0x18", "0x1")]
        self.assertIs(stacks.best(rows, {"address": "0x10", "object": "0x1", "interior": False, "pinned": False}), rows[1])
        self.assertIsNone(stacks.best(rows, {"address": "0x20", "object": "0x1", "interior": False, "pinned": False}))
        self.assertIsNone(stacks.best(rows, {"address": "0x18", "object": "0x2", "interior": False, "pinned": False}))

    def test_registers_by_object(self):
        rows = [row("0x10", "0x1"), row("0x18", "0x2")]
        self.assertIs(stacks.best(rows, {"address": "0x0", "object": "0x2", "interior": False, "pinned": False}), rows[1])
        self.assertIsNone(stacks.best(rows, {"address": "0x0", "object": "0x3", "interior": False, "pinned": False}))

    def test_what_is_certain_first(self):
        rows = [row("0x10", "0x1", certain=False), row("0x18", "0x1")]
        self.assertIs(stacks.best(rows, {"address": "0x0", "object": "0x1", "interior": False, "pinned": False}), rows[1])


if __name__ == "__main__":
    unittest.main()
