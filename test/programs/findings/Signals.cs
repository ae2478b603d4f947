using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Shop
{
    // Prints the pages of a leaflet in threads; one of them fails, and gives no signal.
    sealed class Press
    {
        readonly CountdownEvent done = new(10);
        readonly Barrier colors = new(3);
        readonly ManualResetEventSlim dried = new();
        public void Print(int page)
        {
            if (page != 3)
                done.Signal();
        }
        public void AwaitPages() => done.Wait();
        public void PrintColor(int color)
        {
            if (color != 2)
                colors.SignalAndWait();
        }
        public void AwaitInk() => dried.Wait();
    }

    // Threads wait for parcels that a call was to bring, which failed; nobody looks at its task.
    sealed class Ramp
    {
        readonly BlockingCollection<string> parcels = new();
        public void Load()
        {
            foreach (string one in parcels.GetConsumingEnumerable())
                GC.KeepAlive(one);
        }
        public async Task BringAsync(bool fails)
        {
            await Task.Delay(1);
            if (fails)
                throw new InvalidOperationException("no lorry");
            await Signals.Never.Task;
            parcels.Add("");
        }
    }

    static class Signals
    {
        public static readonly TaskCompletionSource Never = new();

        public static void Failed(List<object> kept, bool isHealthy)
        {
            var ramp = new Ramp();
            kept.Add(ramp);
            kept.Add(ramp.BringAsync(!isHealthy));
            for (int i = 0; i < 2; ++i)
                Start("Loading", i, _ => ramp.Load());
        }

        // `kept`: where something that is no thread refers to the press; else null.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Countdown(List<object> kept)
        {
            Press press = Make(kept);
            var printers = new List<Thread>();
            for (int i = 0; i < 10; ++i)
                printers.Add(Start("Printer", i, press.Print));
            foreach (Thread one in printers)
                one.Join();
            Start("Joiner", 0, _ => press.AwaitPages());
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Colors(List<object> kept)
        {
            Press press = Make(kept);
            for (int i = 0; i < 3; ++i)
                Start("Color", i, press.PrintColor);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Ink(List<object> kept)
        {
            Press press = Make(kept);
            Start("Drier", 0, _ => press.AwaitInk());
        }

        static Press Make(List<object> kept)
        {
            var press = new Press();
            kept?.Add(press);
            return press;
        }

        static Thread Start(string name, int number, System.Action<int> run)
        {
            var thread = new Thread(() => run(number)) { IsBackground = true, Name = name };
            thread.Start();
            return thread;
        }
    }
}
