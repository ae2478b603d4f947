using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Shop
{
    // A journal that is to be written before the process ends.
    sealed class Journal
    {
        readonly TaskCompletionSource written = new();
        public readonly ManualResetEventSlim Begun = new();
        public bool IsLast; // nobody else is there to print the truth
        public void OnExit(object sender, EventArgs arguments)
        {
            if (IsLast)
                Truth.Print("\"said\": {}");
            Begun.Set();
            written.Task.Wait();
        }
    }

    sealed class Printout
    {
        ~Printout() { lock (Exits.paper) { } }
    }

    static class Exits
    {
        internal static readonly object paper = new();

        // Healthy: a thread waits in the same method, but the process does not end.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Handler(bool isHealthy)
        {
            var journal = new Journal();
            AppDomain.CurrentDomain.ProcessExit += journal.OnExit;
            Start(isHealthy ? () => journal.OnExit(null, null) : Stop);
            journal.Begun.Wait();
        }

        // Main returns, unless it is healthy.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Journal(bool isHealthy)
        {
            var journal = new Journal { IsLast = true };
            if (!isHealthy)
                AppDomain.CurrentDomain.ProcessExit += journal.OnExit;
        }

        // Healthy: the thread keeps the lock, but the process does not end.
        public static void Finalizer(bool isHealthy)
        {
            Start(() =>
            {
                lock (paper) // taken
                {
                    Make();
                    GC.Collect();
                    Thread.Sleep(300);
                    if (!isHealthy)
                        Stop();
                    Thread.Sleep(Timeout.Infinite);
                }
            });
            Thread.Sleep(300);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Make() => new Printout();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Stop() => Environment.Exit(0);

        static void Start(Action run) => new Thread(() => run()) { IsBackground = true, Name = "Stopper" }.Start();
    }
}
