// swells CRATES: keeps so many more crates of 64 KiB each time the test writes a line: "GREW crates", all that it has then; or, once
// the GC has no memory left for them, "FULL crates", and goes on with some less.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;

namespace Yard
{
    sealed class Crate
    {
        public readonly byte[] Content = new byte[64 * 1024];
    }

    static class Stack
    {
        public static readonly List<Crate> Crates = new(1 << 16);
    }
}

static class Program
{
    static bool Grow(int count)
    {
        try
        {
            for (int i = 0; i < count; ++i)
                Yard.Stack.Crates.Add(new Yard.Crate());
            return true;
        }
        catch (OutOfMemoryException)
        {
            Yard.Stack.Crates.RemoveRange(Yard.Stack.Crates.Count / 2, Yard.Stack.Crates.Count / 2);
            return false;
        }
    }

    static void Main(string[] arguments)
    {
        int more = int.Parse(arguments[0]);
        Grow(more);
        GC.Collect();
        Truth.Print($"\"said\": {{\"crates\": {more}}}");
        while (Truth.Wait())
        {
            string word = Grow(more) ? "GREW" : "FULL";
            GC.Collect();
            using Stream output = Console.OpenStandardOutput();
            output.Write(Encoding.ASCII.GetBytes($"{word} {Yard.Stack.Crates.Count}\n"));
        }
    }
}
