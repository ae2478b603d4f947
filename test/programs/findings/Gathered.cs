// Things that gather, and by whose kind one sees why. Healthy: as many, but each is let go, or the place for them has a
// bound; and one thing of the kind that keeps much itself.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Threading.Tasks.Dataflow;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Shop
{
    sealed class Crate { public readonly byte[] Goods = new byte[9000]; }

    sealed class Tracer : IObserver<KeyValuePair<string, object>>
    {
        readonly Crate crate = new();
        public void OnNext(KeyValuePair<string, object> value) => GC.KeepAlive(crate);
        public void OnError(Exception error) { }
        public void OnCompleted() { }
    }

    [EventSource(Name = "Shop-Till")]
    sealed class Till : EventSource
    {
        public static readonly Till Log = new();
        [Event(1)] public void Paid(int amount) => WriteEvent(1, amount);
    }

    sealed class Scale : EventListener
    {
        readonly Crate crate = new();
        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == "Shop-Till")
                EnableEvents(source, EventLevel.Informational);
        }
        protected override void OnEventWritten(EventWrittenEventArgs data) => GC.KeepAlive(crate);
    }

    // One listener that keeps much itself.
    sealed class Ledger : EventListener
    {
        readonly List<Crate> sold = Gathered.ManyCrates();
        protected override void OnEventSourceCreated(EventSource source)
        {
            if (source.Name == "Shop-Till")
                EnableEvents(source, EventLevel.Informational);
        }
        protected override void OnEventWritten(EventWrittenEventArgs data) => GC.KeepAlive(sold);
    }

    static class Gathered
    {
        static readonly List<WeakReference<Crate>> seen = new();
        static readonly List<Crate> crates = new();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static List<Crate> ManyCrates() => Enumerable.Range(0, 2000).Select(_ => new Crate()).ToList();

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void See(Crate crate) => seen.Add(new WeakReference<Crate>(crate));

        // Healthy: nearly as many, and their targets are alive.
        public static void References(bool isHealthy)
        {
            if (isHealthy)
                crates.Add(new Crate());
            for (int i = 0; i < 300_000; ++i)
                See(isHealthy ? crates[0] : new Crate());
            GC.Collect();
        }

        public static void Handles(bool isHealthy)
        {
            for (int i = 0; i < 2000; ++i)
            {
                GCHandle handle = GCHandle.Alloc(new Crate());
                if (isHealthy)
                    handle.Free();
            }
        }

        static readonly TaskCompletionSource answered = new();

        static async Task DeliverAsync(Crate crate)
        {
            await answered.Task; // DeliverAsync
            GC.KeepAlive(crate);
        }

        static readonly TaskCompletionSource closed = new();

        // One call that waits until the shop closes, and keeps much in its variables.
        static async Task ServeAsync(List<Crate> all)
        {
            await closed.Task;
            GC.KeepAlive(all);
        }

        public static void Continuations(bool isHealthy)
        {
            for (int i = 0; i < 2000; ++i)
                DeliverAsync(new Crate());
            if (isHealthy)
            {
                answered.SetResult();
                ServeAsync(ManyCrates());
            }
        }

        static Channel<Crate> orders;
        static readonly Channel<Crate> calls = Channel.CreateUnbounded<Crate>();

        // Has read everything, and keeps much in its variables.
        static async Task ReadAsync(List<Crate> all)
        {
            await foreach (Crate crate in calls.Reader.ReadAllAsync())
                all.Add(crate);
        }

        public static void Queue(bool isHealthy)
        {
            orders = isHealthy ? Channel.CreateBounded<Crate>(2000) : Channel.CreateUnbounded<Crate>();
            for (int i = 0; i < 2000; ++i)
                orders.Writer.TryWrite(new Crate());
            if (isHealthy)
                ReadAsync(ManyCrates());
        }

        static ServiceProvider services;

        public static void LogScopes(bool isHealthy)
        {
            services = new ServiceCollection().AddLogging(logging => logging.AddSimpleConsole(options => options.IncludeScopes = true)).BuildServiceProvider();
            ILogger logger = services.GetRequiredService<ILoggerFactory>().CreateLogger("Shop");
            for (int i = 0; i < 2000; ++i)
            {
                IDisposable scope = logger.BeginScope(new Crate());
                if (isHealthy)
                    scope.Dispose();
            }
        }

        static readonly ActivitySource spans = new("Shop");

        public static void Activities(bool isHealthy)
        {
            ActivitySource.AddActivityListener(new ActivityListener
            {
                ShouldListenTo = _ => true,
                Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData
            });
            for (int i = 0; i < 2000; ++i)
            {
                Activity span = spans.StartActivity("sale");
                span.SetTag("crate", new Crate());
                if (isHealthy)
                    span.Stop();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Meter Measure(Crate crate)
        {
            var meter = new Meter("Shop");
            meter.CreateObservableGauge("goods", () => crate.Goods.Length);
            return meter;
        }

        public static void Meters(bool isHealthy)
        {
            for (int i = 0; i < 2000; ++i)
            {
                Meter meter = Measure(new Crate());
                if (isHealthy)
                    meter.Dispose();
            }
        }

        static readonly BlockingCollection<Crate> stacked = new(), few = new(2000);

        static void Unload()
        {
            foreach (Crate crate in stacked.GetConsumingEnumerable())
                Thread.Sleep(Timeout.Infinite);
        }

        public static void Collection(bool isHealthy)
        {
            new Thread(Unload) { IsBackground = true }.Start();
            for (int i = 0; i < 2000; ++i)
                (isHealthy ? few : stacked).Add(new Crate());
            Thread.Sleep(100);
        }

        static ActionBlock<Crate> press;

        public static void Block(bool isHealthy)
        {
            press = new ActionBlock<Crate>(_ => answered.Task, new ExecutionDataflowBlockOptions { BoundedCapacity = isHealthy ? 2500 : -1 });
            for (int i = 0; i < 2500; ++i)
                press.Post(new Crate());
            Thread.Sleep(100);
        }

        sealed class Alarm
        {
            readonly Crate crate = new();
            readonly System.Timers.Timer timer = new(3_600_000);
            public Alarm(bool isHealthy)
            {
                timer.Elapsed += (_, _) => GC.KeepAlive(crate);
                timer.Start();
                if (isHealthy)
                    timer.Dispose();
            }
        }

        public static void Alarms(bool isHealthy)
        {
            for (int i = 0; i < 1200; ++i)
                new Alarm(isHealthy);
        }

        static readonly DiagnosticListener listener = new("Shop");

        public static void Subscriptions(bool isHealthy)
        {
            for (int i = 0; i < 2000; ++i)
            {
                IDisposable subscription = listener.Subscribe(new Tracer());
                if (isHealthy)
                    subscription.Dispose();
            }
        }

        public static void Listeners(bool isHealthy)
        {
            Till.Log.Paid(1);
            for (int i = 0; i < 600; ++i)
            {
                var scale = new Scale();
                if (isHealthy)
                    scale.Dispose();
            }
            if (isHealthy)
                new Ledger();
        }

        static IEnumerable<Crate> chosen = Enumerable.Empty<Crate>();

        public static void Queries(bool isHealthy)
        {
            for (int i = 0; i < 2000; ++i)
            {
                chosen = chosen.Append(new Crate()).Where(crate => crate.Goods.Length > 0);
                if (isHealthy)
                    chosen = chosen.ToList();
            }
            GC.Collect();
        }

        static ThreadLocal<byte[]> pages;
        static readonly ThreadLocal<List<byte[]>> lists = new(() => new List<byte[]>(), trackAllValues: true);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Write() => pages.Value[0] = 1;

        public static void ThreadValues(bool isHealthy)
        {
            pages = new ThreadLocal<byte[]>(() => new byte[200_000], trackAllValues: !isHealthy);
            for (int i = 0; i < 60; ++i)
            {
                var thread = new Thread(Write);
                thread.Start();
                thread.Join();
            }
            for (int i = 0; isHealthy && i < 60; ++i) // one value, which has many parts
                lists.Value.Add(new byte[200_000]);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }
    }
}
