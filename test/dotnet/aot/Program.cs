// A program compiled ahead of time that reads a dump, and looks into itself.
using System;
using System.Linq;
using DnHeap;

using var snapshot = Snapshot.Open(args[0]);
Console.WriteLine(snapshot.Types().Single(type => type.Name == "System.Byte[]").Count);
using var stat = snapshot.Ask("stat", "--top", "1");
Console.WriteLine(stat.RootElement.GetProperty("command").GetString());
Kept.Alive = new Kept();
Say(() => MemoryAssert.Retains("Kept.Alive").AtMost(100));
Say(() => MemoryAssert.Retains("Kept.").AtMost(10));
Say(MemoryAssert.NoInstances<Kept>);
Say(MemoryAssert.NoInstances<Gone>);
if (args.Length > 1)
    Console.ReadLine(); // looked into from outside meanwhile
GC.KeepAlive(Kept.Alive);

static void Say(Action assertion)
{
    try
    {
        assertion();
        Console.WriteLine("holds");
    }
    catch (Exception error)
    {
        Console.WriteLine(error.Message.Split('\n')[0]);
    }
}

sealed class Kept
{
    public static Kept? Alive;
}

sealed class Gone;
