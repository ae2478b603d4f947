// Threads that wait for each other, or one behind the other, in ways that no lock alone shows.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Shop
{
    // Runs what is queued on threads of its own.
    sealed class Clerks : TaskScheduler
    {
        readonly BlockingCollection<Task> work = new BlockingCollection<Task>();

        public Clerks(int count)
        {
            for (int i = 0; i < count; ++i)
                Waits.Start("Clerk", Serve);
        }

        void Serve()
        {
            foreach (Task one in work.GetConsumingEnumerable())
                TryExecuteTask(one);
        }

        protected override void QueueTask(Task task) => work.Add(task);
        protected override bool TryExecuteTaskInline(Task task, bool wasQueued) => false;
        protected override IEnumerable<Task> GetScheduledTasks() => work;
    }

    static class Waits
    {
        static readonly object shelf = new object(), till = new object();
        static Timer bell;
        static bool isHealthy;

        public static void Start(string name, Action run)
        {
            var thread = new Thread(() => run()) { IsBackground = true, Name = name };
            thread.Start();
        }

        static void Stay() => Thread.Sleep(Timeout.Infinite); // Stay

        // Each waits for a lock that the next one has; the last one sleeps. Two threads are usual.
        static void Count()
        {
            lock (till)
                Stay();
        }

        static void Fill()
        {
            lock (shelf)
                if (isHealthy)
                    Stay();
                else
                    lock (till) // Fill
                        Stay();
        }

        static void Sell()
        {
            lock (shelf) // Sell
                Stay();
        }

        public static void Chain(bool healthy)
        {
            isHealthy = healthy;
            Start("Counter", Count);
            Thread.Sleep(200);
            Start("Filler", Fill);
            Thread.Sleep(200);
            Start("Seller", Sell);
            Thread.Sleep(200);
        }

        // One has a permit and wants a lock, the other has the lock and wants a permit.
        sealed class Stock
        {
            readonly object map = new object();
            readonly SemaphoreSlim room = new SemaphoreSlim(1, 1);

            public void Save(Barrier both)
            {
                room.Wait();
                both.SignalAndWait();
                lock (map) // Save
                    Stay();
            }

            public void Look(Barrier both)
            {
                room.Wait();
                room.Release();
                both.SignalAndWait();
                lock (map)
                    Stay();
            }

            public void Find(Barrier both)
            {
                lock (map)
                {
                    both.SignalAndWait();
                    room.Wait(); // Find
                    Stay();
                }
            }
        }

        public static void Semaphore(bool healthy)
        {
            var stock = new Stock();
            var both = new Barrier(2);
            Start("Saver", () =>
            {
                if (healthy)
                    stock.Look(both);
                else
                    stock.Save(both);
            });
            Start("Finder", () => stock.Find(both));
        }

        // Whoever disposes of the registration waits for the callback, which wants the lock that he has.
        public static void Token(bool healthy)
        {
            var stop = new CancellationTokenSource();
            var begun = new ManualResetEventSlim();
            CancellationTokenRegistration registration = stop.Token.Register(() => OnStop(begun));
            Start("Closer", () => Close(begun, registration, healthy));
            Start("Stopper", stop.Cancel);
        }

        static void OnStop(ManualResetEventSlim begun)
        {
            begun.Set();
            Thread.Sleep(200);
            lock (shelf) // OnStop
                Thread.Sleep(1);
        }

        static void Close(ManualResetEventSlim begun, CancellationTokenRegistration registration, bool healthy)
        {
            lock (shelf)
            {
                begun.Wait();
                if (healthy)
                    registration.Unregister(); // does not wait
                else
                    registration.Dispose(); // Close
            }
        }

        // A timer's callback waits for the end of the timer's callbacks.
        public static void TimersEnd(bool healthy) => bell = new Timer(Ring, healthy, 10, Timeout.Infinite);

        static void Ring(object healthy)
        {
            while (bell == null)
                Thread.Sleep(1);
            var ended = new ManualResetEvent(false);
            bell.Dispose(ended);
            if (!(bool)healthy)
                ended.WaitOne(); // Ring
        }

        // A task waits for one behind it in the queue; a second clerk would run that one.
        public static void Scheduler(bool healthy)
        {
            var factory = new TaskFactory(new Clerks(healthy ? 2 : 1));
            factory.StartNew(() => Print(factory));
        }

        static void Print(TaskFactory factory) => factory.StartNew(PrintPage).Wait(); // Print

        static void PrintPage() => Thread.Sleep(1);

        // Every worker waits for a task that needs a worker.
        public static void Pool(bool healthy)
        {
            ThreadPool.SetMinThreads(4, 1);
            for (int i = 0; i < 300; ++i)
                if (healthy)
                    Task.Run(LoadAsync);
                else
                    Task.Run(Load);
            Thread.Sleep(2000);
        }

        static int Load() => LoadAsync().Result; // Load

        static async Task<int> LoadAsync()
        {
            await Task.Delay(10);
            return 1;
        }
    }
}
