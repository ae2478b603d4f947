// Threads, each stopped in one way in which managed code can be stopped, and each holding an object of a type of its own,
// Held.X, by a frame alone: `stacks [idle] [unhandled] [spin] [collect] [many N]`.
// Its truth has "held": a list of
//   {"scenario": "Sleep", "thread": "Sleep", "type": "Held.Sleep", "count": 1, "by": "reference", "os_id": 4711, "managed_id": 12,
//    "address": "0x…", "trace": ["Stacks.Idle.Sleep() in …/Idle.cs:line 70", …]}
// "by" is interior where only a pointer into the object is left, pinned where `fixed` holds it, argument where only what a
// method was called with does, nothing where optimised code holds it no longer. "trace" is what Environment.StackTrace said
// in the method that holds it, which is the first. "address" is as of the last collection. And "many": threads that each
// hold a Held.Many.
using System;
using System.Threading;

namespace Held
{
    class Main { public long Number; }
}

namespace Stacks
{
    static class Program
    {
        static string types;
        static int many;

        static void Print() => Truth.Print(types + ", \"many\": " + many + ", " + Stage.Account());
        static void Rehearse() => Stage.Account();

        static void InThread(ThreadStart body)
        {
            var thread = new Thread(body);
            thread.Start();
            thread.Join();
        }

        static void Main(string[] arguments)
        {
            var held = Stage.Held(new Held.Main());
            if (Array.IndexOf(arguments, "idle") >= 0)
            {
                Idle.Start();
                Byrefs.Start();
                Generics.Start();
                Calls.Start();
                Funclets.Start(Array.IndexOf(arguments, "unhandled") >= 0);
            }
            int at = Array.IndexOf(arguments, "many");
            if (at >= 0)
                Busy.StartMany(many = int.Parse(arguments[at + 1]));
            if (Array.IndexOf(arguments, "spin") >= 0)
                Busy.Spin();
            if (Array.IndexOf(arguments, "helpers") >= 0)
                Busy.Help();
            if (Array.IndexOf(arguments, "collect") >= 0)
                Busy.Collect();
            Stage.WaitUntilReady();
            types = Truth.Types();
            InThread(Rehearse);
            Truth.AfterLastCollection();
            GC.Collect();
            GC.Collect();
            InThread(Print);
            Truth.Wait();
            Busy.Stop();
            GC.KeepAlive(held);
            Environment.Exit(0);
        }
    }
}
