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

    // Threads that wait for what nobody gives any more: a pulse, a permit, a place.
    sealed class Dock
    {
        readonly object bell = new();
        readonly SemaphoreSlim cranes = new(2);
        readonly BlockingCollection<string> quay = new(3);
        public void AwaitBell()
        {
            lock (bell)
                Monitor.Wait(bell);
        }
        // The third and all others wait.
        public void Lift()
        {
            cranes.Wait();
            if (quay.Count > 100)
                cranes.Release();
        }
        public void Unload()
        {
            for (; ; )
                quay.Add("box"); // Unload
        }
    }

    // Takes its own semaphore twice, unless a call need not.
    sealed class Safe
    {
        readonly SemaphoreSlim key = new(1, 1);
        readonly bool isHealthy;
        public Safe(bool isHealthy) => this.isHealthy = isHealthy;
        public async Task CloseAsync()
        {
            await key.WaitAsync();
            try
            {
                await (isHealthy ? Signals.Never.Task : CountAsync()); // Close
            }
            finally
            {
                key.Release();
            }
        }
        public async Task CountAsync()
        {
            await key.WaitAsync(); // Count
            key.Release();
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

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Docks(List<object> kept, string way)
        {
            var dock = new Dock();
            kept?.Add(dock);
            var threads = new List<Thread>();
            for (int i = 0; i < (way == "place" ? 1 : 4); ++i)
                threads.Add(Start("Docker", i, _ => Work(dock, way)));
            Start("Foreman", 0, _ => threads.ForEach(one => one.Join())); // leads to the dock, too, but only waits
        }

        static void Work(Dock dock, string way)
        {
            if (way == "pulse")
                dock.AwaitBell();
            else if (way == "place")
                dock.Unload();
            else
                dock.Lift();
        }

        // A thread that stops the thread on which it runs; healthy: another one.
        public static void Self(bool isHealthy)
        {
            Thread worker = null;
            var begun = new ManualResetEventSlim();
            worker = new Thread(() =>
            {
                begun.Wait();
                Stop(worker); // Self
            }) { IsBackground = true, Name = "Stopper" };
            worker.Start();
            if (isHealthy)
                worker = Start("Sleeper", 0, _ => Thread.Sleep(Timeout.Infinite));
            begun.Set();
        }

        // Healthy: both take the same one first, and the second thread waits for the first, which only sleeps.
        public static void Order(bool isHealthy)
        {
            object left = new(), right = new();
            var both = new Barrier(isHealthy ? 1 : 2);
            Start("Left", 0, _ => Both(left, right, both));
            Start("Right", 0, _ => Both(isHealthy ? left : right, isHealthy ? right : left, both));
        }

        static void Both(object first, object second, Barrier both)
        {
            lock (first)
            {
                both.SignalAndWait();
                lock (second) // Both
                    Thread.Sleep(Timeout.Infinite);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Stop(Thread worker) => worker.Join(); // Stop

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
