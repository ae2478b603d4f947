// Ways to crash, as in ../crash.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Aot
{
    class Failure : Exception { public Failure(string text) : base(text) { } }

    static unsafe class Crashes
    {
        static object kept;

        [DllImport("libc")]
        static extern nint strlen(nint text);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long Recurse(long depth)
        {
            kept = depth > 1 ? kept : null;
            return Recurse(depth + 1) + depth;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Crash(string way)
        {
            switch (way)
            {
            case "unhandled": throw new Failure("what the test is about");
            case "failfast": Environment.FailFast("the test asked for it", new Failure("given")); break;
            case "overflow": kept = Recurse(0); break;
            case "access": kept = *(long*)0x123456780; break;
            case "segv": kept = strlen((nint)0x123456780); break;
            }
        }
    }
}
