// Objects of known number, a thread that sleeps with a lock, and a console to wait at: for test/real/windows_live.py.
using System;
using System.Collections.Generic;
using System.Threading;

public sealed class Link
{
    public Link Next;
    public long Number;
}

public sealed class Crate
{
    public byte[] Content = new byte[1000];
}

public static class Program
{
    const int Links = 20_000, Crates = 500, CratesOfOneRound = 20_000;
    static readonly object gate = new();
    static readonly List<Crate> kept = new();

    static void Hold()
    {
        lock (gate)
            Thread.Sleep(Timeout.Infinite);
    }

    static void Main()
    {
        Link first = null;
        for (int i = 0; i < Links; i++)
            first = new Link { Next = first, Number = i };
        for (int i = 0; i < Crates; i++)
            kept.Add(new Crate());
        new Thread(Hold) { IsBackground = true, Name = "holder" }.Start();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Console.WriteLine($"ready {Environment.ProcessId} {Links} {Crates}");
        for (string line; (line = Console.In.ReadLine()) != "end";)
        {
            if (line == "grow")
                for (int i = 0; i < CratesOfOneRound; i++)
                    kept.Add(new Crate());
            Console.WriteLine($"still here {kept.Count}");
        }
        Console.WriteLine($"ends {first.Number}");
    }
}
