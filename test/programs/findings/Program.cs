// Each way, the first argument, has what one finding of `report` is about; with a second argument, "healthy", it nearly has it.
using System;
using System.Collections.Generic;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Xml.Serialization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Shop
{
    sealed class Connection : IDisposable { public void Dispose() { } }
    sealed class Basket { }
    sealed class Visit { public Basket Basket = new(); }
    sealed class Note { public byte[] Text = new byte[3000]; }
    sealed class Cart { public byte[] Rows = new byte[16000]; }
    sealed class PriceFeed { public event EventHandler Changed; public void Raise() => Changed?.Invoke(this, EventArgs.Empty); }
    sealed class View { public int Seen; public void OnChanged(object sender, EventArgs arguments) => ++Seen; }
    sealed class Audit { public readonly List<HttpContext> Seen = new(); }

    public sealed class Pair<A, B> { public A First; public B Second; } // XmlSerializer wants it to be public
    sealed class Export
    {
        readonly byte[] pages = new byte[60000];
        public Export(int number) => new Random(number).NextBytes(pages);
        public CancellationTokenRegistration Watch(CancellationToken stopping) => stopping.Register(() => Console.WriteLine(pages.Length));
    }

    sealed class Seat : IEquatable<Seat>
    {
        readonly int number, code;
        public Seat(int number, int code) => (this.number, this.code) = (number, code);
        public bool Equals(Seat other) => other.number == number;
        public override bool Equals(object other) => other is Seat seat && Equals(seat);
        public override int GetHashCode() => code;
    }
    sealed class Link { public Link Next; }

    sealed class Parcel { public readonly int Number; public readonly byte[] Label = new byte[60]; public Parcel(int number) => Number = number; }

    sealed class Depot
    {
        readonly Channel<Parcel> parcels = Channel.CreateUnbounded<Parcel>();
        readonly TaskCompletionSource first = new();
        Task reader;
        public void Start(bool fails) => reader = Task.Run(() => ReadAsync(fails));
        public void Add(Parcel parcel) => parcels.Writer.TryWrite(parcel);
        public bool HasFailed => reader.IsFaulted;

        async Task ReadAsync(bool fails)
        {
            for (;;)
            {
                Parcel parcel = await parcels.Reader.ReadAsync();
                if (parcel.Number < 100)
                    continue;
                if (fails)
                    throw new FormatException();
                await first.Task; // it is slow
            }
        }
    }

    sealed class Handle
    {
        ~Handle() { lock (Program.gate) { } }
    }

    sealed class Bank
    {
        public int Waiting;
        readonly TaskCompletionSource answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
        public async Task<int> AskAsync()
        {
            Interlocked.Increment(ref Waiting);
            await answer.Task;
            return 1;
        }

        // Asks a server that accepts, and never answers.
        readonly HttpClient http = new();
        readonly TcpListener silent = new(IPAddress.Loopback, 0);
        public void Begin() => silent.Start(1000);
        public async Task<int> FetchAsync()
        {
            var away = new Uri($"http://{silent.LocalEndpoint}/");
            Interlocked.Increment(ref Waiting);
            string text = await http.GetStringAsync(away);
            return text.Length;
        }
    }

    static class Program
    {
        internal static readonly object gate = new();
        static readonly List<object> kept = new();
        static bool isHealthy;

        static int Many(int many, int few) => isHealthy ? few : many;

        static void Load(object taken)
        {
            lock (gate)
            {
                ((ManualResetEventSlim)taken).Set();
                Thread.Sleep(Timeout.Infinite); // Load
            }
        }

        static void Loader()
        {
            var taken = new ManualResetEventSlim();
            new Thread(Load) { IsBackground = true, Name = "Loader" }.Start(taken);
            taken.Wait();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Handles(int count)
        {
            for (int i = 0; i < count; ++i)
                new Handle();
        }

        static void Finalizers()
        {
            if (!isHealthy)
                Loader();
            Handles(3000);
            GC.Collect();
            Thread.Sleep(300);
            GC.Collect();
        }

        static void Contended()
        {
            Loader();
            for (int i = 0; i < Many(12, 4); ++i)
                new Thread(() => { lock (gate) { } }) { IsBackground = true }.Start();
            Thread.Sleep(500);
        }

        static void RootScope()
        {
            ServiceProvider provider = new ServiceCollection().AddTransient<Connection>().BuildServiceProvider();
            kept.Add(provider);
            for (int i = 0; i < 1200; ++i)
                if (isHealthy)
                    using (IServiceScope scope = provider.CreateScope())
                        scope.ServiceProvider.GetRequiredService<Connection>();
                else
                    provider.GetRequiredService<Connection>();
        }

        static void OpenScopes()
        {
            ServiceProvider provider = new ServiceCollection().AddScoped<Basket>().BuildServiceProvider();
            kept.Add(provider);
            for (int i = 0; i < 1200; ++i)
            {
                IServiceScope scope = provider.CreateScope();
                scope.ServiceProvider.GetRequiredService<Basket>();
                kept.Add(scope);
                if (isHealthy)
                    scope.Dispose();
            }
        }

        static void Timers()
        {
            for (int i = 0; i < 16000; ++i)
            {
                var timer = new Timer(_ => { }, null, 3_600_000, 3_600_000);
                kept.Add(timer);
                if (isHealthy)
                    timer.Dispose();
            }
        }

        // Healthy: the views are in use, and listen as long as they are.
        static void Handlers()
        {
            var feed = new PriceFeed();
            kept.Add(feed);
            for (int i = 0; i < 5000; ++i)
            {
                var view = new View();
                feed.Changed += view.OnChanged;
                if (isHealthy)
                    kept.Add(view);
            }
        }

        static readonly CancellationTokenSource stop = new();
        static int stopped;

        static async Task Fetch()
        {
            using var linked = CancellationTokenSource.CreateLinkedTokenSource(stop.Token);
            await never.Task;
        }

        // Healthy: calls in flight have a linked source each, which they dispose of in the end.
        static void Registrations()
        {
            for (int i = 0; i < 2000 && isHealthy; ++i)
                _ = Fetch();
            for (int i = 0; i < 3000; ++i)
            {
                CancellationTokenRegistration registration = stop.Token.Register(() => ++stopped);
                if (isHealthy)
                    registration.Dispose();
            }
            for (int i = 0; i < 2000; ++i)
            {
                CancellationTokenSource linked = CancellationTokenSource.CreateLinkedTokenSource(stop.Token);
                if (isHealthy)
                    linked.Dispose();
            }
        }

        // Few, but each keeps much; the bytes differ, so that they are no copies.
        static void LargeRegistrations()
        {
            for (int i = 0; i < 400; ++i)
            {
                CancellationTokenRegistration registration = new Export(i).Watch(stop.Token);
                if (isHealthy)
                    registration.Dispose();
            }
        }

        static async Task ExpireAsync(CancellationToken ended)
        {
            try { await Task.Delay(3_600_000, ended); }
            catch (OperationCanceledException) { }
        }

        static void Delays()
        {
            for (int i = 0; i < 16000; ++i)
                _ = ExpireAsync(isHealthy ? stop.Token : default);
            if (isHealthy)
                stop.Cancel();
        }

        static readonly Depot depot = new();

        static void FailedReader()
        {
            for (int i = 0; i <= 100; ++i)
                depot.Add(new Parcel(i));
            depot.Start(!isHealthy);
            while (!isHealthy && !depot.HasFailed)
                Thread.Sleep(10);
            for (int i = 0; i < 19900; ++i)
                depot.Add(new Parcel(i));
        }

        static readonly AsyncLocal<Cart> cart = new();
        static readonly TaskCompletionSource never = new();
        static void Remind(object state) { }
        static void AddReminder() => kept.Add(new Timer(Remind, null, 3_600_000, 3_600_000));

        static async Task Buy()
        {
            cart.Value = new Cart();
            AddReminder();
            if (!isHealthy)
                return;
            using (ExecutionContext.SuppressFlow())
                AddReminder();
            await never.Task; // so that the call carries the value, too
        }

        static void CapturedValues()
        {
            for (int i = 0; i < 300; ++i)
                kept.Add(Buy());
            for (int i = 0; i < 300 && isHealthy; ++i)
                using (ExecutionContext.SuppressFlow())
                    AddReminder();
        }

        static readonly ConditionalWeakTable<Basket, Note> notes = new();

        static void WeakTable()
        {
            for (int i = 0; i < 2000; ++i)
            {
                var visit = new Visit();
                var note = new Note();
                kept.Add(visit);
                notes.Add(visit.Basket, note);
                if (isHealthy)
                    kept.Add(note);
            }
        }

        static void DependentHandles()
        {
            for (int i = 0; i < 12000; ++i)
            {
                var key = new Basket();
                kept.Add(key);
                var handle = new DependentHandle(key, new View());
                if (isHealthy)
                    handle.Dispose();
            }
        }

        static void Clients()
        {
            var handler = new SocketsHttpHandler();
            for (int i = 0; i < 300; ++i)
                kept.Add(isHealthy ? new HttpClient(handler, false) : new HttpClient());
        }

        // Each client makes a connection, and is garbage then, which no collection may free here. The healthy program
        // shares one.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DroppedClients()
        {
            WebApplication app = Serve();
            string address = string.Join("", app.Urls) + "/weather"; // not found, which is an answer, too
            GC.TryStartNoGCRegion(12 << 20);
            HttpClient shared = isHealthy ? new HttpClient() : null;
            for (int i = 0; i < 150; ++i)
                (shared ?? new HttpClient()).GetAsync(address).Result.Dispose();
        }

        // The limit is as if the process had been started with it. The bytes differ, so that the arrays are no copies.
        static void MemoryLimit()
        {
            AppContext.SetData("GCHeapHardLimit", 128ul << 20);
            GC.RefreshMemoryLimit();
            int count = Many(23, 10);
            for (int i = 0; i < count; ++i)
            {
                var block = new byte[5 << 20];
                new Random(i).NextBytes(block);
                kept.Add(block);
            }
            GC.Collect();
            kept.Add(GC.GetGCMemoryInfo());
        }

        // Healthy: the program refers to them, too.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Intern()
        {
            for (int i = 0; i < 15000; ++i)
            {
                string name = string.Intern($"customer-{i * 7919}");
                if (isHealthy)
                    kept.Add(name);
            }
        }

        static readonly List<GCHandle> pins = new();

        // Every pinned array keeps a hole of 4,000 bytes from being closed.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Pin()
        {
            var all = new List<byte[]>();
            for (int i = 0; i < 6000; ++i)
            {
                all.Add(new byte[4000]);
                var pinned = new byte[64];
                kept.Add(pinned);
                var handle = GCHandle.Alloc(pinned, GCHandleType.Pinned);
                if (isHealthy)
                    handle.Free();
                else
                    pins.Add(handle);
            }
            GC.KeepAlive(all);
        }

        static void Holes()
        {
            Pin();
            GC.Collect();
            GC.Collect();
        }

        [DllImport("libc")] static extern IntPtr mmap(IntPtr address, nint length, int protection, int flags, int file, nint offset);

        static unsafe void Mapped()
        {
            const int readAndWrite = 3, isPrivateAndAnonymous = 0x22, size = 4 << 20;
            for (int i = 0; i < Many(50, 12); ++i)
                new Span<byte>((void*)mmap(0, size, readAndWrite, isPrivateAndAnonymous, -1, 0), size).Fill(1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void LoadPlugin()
        {
            var context = new AssemblyLoadContext("plugin", true);
            object plugin = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location).CreateInstance("Shop.Basket");
            if (!isHealthy)
                kept.Add(plugin);
            context.Unload();
        }

        static void Plugins()
        {
            for (int i = 0; i < 40; ++i)
                LoadPlugin();
        }

        static void Files()
        {
            for (int i = 0; i < 800; ++i)
            {
                var file = new FileStream(Environment.ProcessPath, FileMode.Open, FileAccess.Read, FileShare.Read);
                kept.Add(file);
                if (isHealthy)
                    file.Dispose();
            }
        }

        static void Views()
        {
            var file = MemoryMappedFile.CreateFromFile(Environment.ProcessPath, FileMode.Open, null, 0, MemoryMappedFileAccess.Read);
            for (int i = 0; i < 800; ++i)
            {
                MemoryMappedViewAccessor view = file.CreateViewAccessor(0, 4096, MemoryMappedFileAccess.Read);
                kept.Add(view);
                if (isHealthy)
                    view.Dispose();
            }
        }

        // The whole file, again and again.
        static void ViewsOfOneFile()
        {
            string path = typeof(object).Assembly.Location;
            for (int i = 0; i < Many(80, 20); ++i)
                kept.Add(MemoryMappedFile.CreateFromFile(path, FileMode.Open, null, 0, MemoryMappedFileAccess.Read).CreateViewAccessor(0, 0, MemoryMappedFileAccess.Read));
        }

        // Nobody reads from the server's ends. Healthy: a call waits for data of each.
        static void Sockets()
        {
            using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
            listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            listener.Listen(1000);
            for (int i = 0; i < 600; ++i)
            {
                var client = new Socket(SocketType.Stream, ProtocolType.Tcp);
                client.Connect(listener.LocalEndPoint);
                Socket accepted = listener.Accept();
                kept.Add(accepted);
                if (isHealthy)
                {
                    kept.Add(client);
                    kept.Add(accepted.ReceiveAsync(new byte[1]));
                    kept.Add(client.ReceiveAsync(new byte[1]));
                }
                else
                {
                    client.Dispose();
                }
            }
        }

        // XmlSerializer keeps, and finds again, what it has made for a type; with other arguments it does not.
        static void Serializers()
        {
            Type[] types = { typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(short), typeof(byte), typeof(bool), typeof(float), typeof(double), typeof(string), typeof(decimal) };
            foreach (Type first in types)
                foreach (Type second in types)
                    _ = isHealthy ? new XmlSerializer(typeof(Pair<,>).MakeGenericType(first, second))
                                  : new XmlSerializer(typeof(Pair<int, int>), new XmlRootAttribute("pair"));
        }

        [ThreadStatic] static List<byte[]> scratch;

        static void Scratches()
        {
            int count = Many(6, 3);
            var ready = new CountdownEvent(count);
            for (int i = 0; i < count; ++i)
                new Thread(() =>
                {
                    scratch = new List<byte[]>();
                    for (int n = 0; n < 140; ++n)
                        scratch.Add(new byte[50000]);
                    ready.Signal();
                    Thread.Sleep(Timeout.Infinite);
                }) { IsBackground = true }.Start();
            ready.Wait();
        }

        static class Rows<T>
        {
            public static List<T[]> All;
        }

        // Five megabytes for each type.
        static void Keep<T>()
        {
            Rows<T>.All = new List<T[]>();
            for (int i = 0; i < 100; ++i)
                Rows<T>.All.Add(new T[50000 / Unsafe.SizeOf<T>()]);
        }

        static void Generics()
        {
            Keep<byte>();
            Keep<short>();
            Keep<int>();
            if (isHealthy)
                return;
            Keep<long>();
            Keep<string>();
            Keep<Exception>();
        }

        static void Caches()
        {
            var cache = new MemoryCache(new MemoryCacheOptions { SizeLimit = isHealthy ? 1_000_000 : null });
            kept.Add(cache);
            for (int i = 0; i < 20000; ++i)
            {
                var rows = new byte[1500];
                new Random(i).NextBytes(rows);
                cache.Set(i.ToString(), rows, new MemoryCacheEntryOptions { Size = 1 });
            }
        }

        static WebApplication Serve()
        {
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Logging.ClearProviders();
            builder.Services.AddHttpContextAccessor().AddSingleton<Audit>().AddSingleton<Bank>(); // with it each request has a context of its own
            WebApplication app = builder.Build();
            app.MapGet("/seen", (HttpContext context, Audit audit) =>
            {
                if (!isHealthy)
                    lock (audit)
                        audit.Seen.Add(context);
            });
            app.MapGet("/pay", async (Bank bank) => (await bank.AskAsync()).ToString());
            app.MapGet("/fetch", async (Bank bank) => (await bank.FetchAsync()).ToString());
            app.StartAsync().Wait();
            kept.Add(app);
            return app;
        }

        static Socket Ask(WebApplication app, string path)
        {
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(IPAddress.Loopback, new Uri(string.Join("", app.Urls)).Port);
            socket.Send(Encoding.ASCII.GetBytes($"GET {path} HTTP/1.1\r\nHost: shop\r\n\r\n"));
            return socket;
        }

        static void EndedRequests()
        {
            WebApplication app = Serve();
            for (int i = 0; i < 300; ++i)
                using (Socket socket = Ask(app, "/seen"))
                    socket.Receive(new byte[1000]);
        }

        static void WaitingRequests(string path)
        {
            WebApplication app = Serve();
            int count = Many(40, 12);
            var bank = app.Services.GetRequiredService<Bank>();
            bank.Begin();
            for (int i = 0; i < count; ++i)
                kept.Add(Ask(app, path));
            while (Volatile.Read(ref bank.Waiting) < count)
                Thread.Sleep(10);
            if (path == "/fetch")
                Thread.Sleep(3000); // its calls know how long they wait
        }

        static int Parse(string text)
        {
            try { return int.Parse(text); }
            catch (FormatException) { return 0; }
        }

        // No collection, so that all are there. Healthy: a failure is one step of much work.
        static void Exceptions()
        {
            GC.TryStartNoGCRegion(12 << 20);
            int count = Many(5000, 1200);
            for (int i = 0; i < count; ++i)
            {
                Parse("seven");
                if (isHealthy)
                    GC.KeepAlive(new byte[8000]);
            }
            try { throw new InvalidOperationException(); } // the runtime holds the last one
            catch (InvalidOperationException) { }
        }

        static readonly Dictionary<Seat, string> guests = new();

        static void Chains()
        {
            for (int i = 0; i < 3000; ++i)
                guests.Add(new Seat(i, isHealthy ? i / 4 : 17), "guest");
        }

        static long worked;

        static void Collect(object collected)
        {
            for (int i = 0; i < 60; ++i)
            {
                GC.Collect();
                Thread.Sleep(isHealthy ? 10 : 0);
            }
            ((ManualResetEventSlim)collected).Set();
            for (;;)
                ++worked;
        }

        // Healthy: it collects as often, but has little to look at, and time for other things.
        static void Collections()
        {
            Link last = null;
            for (int i = 0; i < Many(600_000, 1000); ++i)
                last = new Link { Next = last };
            kept.Add(last);
            var collected = new ManualResetEventSlim();
            new Thread(Collect) { IsBackground = true }.Start(collected);
            collected.Wait();
        }

        static void Main(string[] arguments)
        {
            isHealthy = arguments.Length > 1;
            Action way = arguments[0] switch
            {
                "finalizer_blocked" => Finalizers,
                "lock_contended" => Contended,
                "lock_chain" => () => Waits.Chain(isHealthy),
                "deadlock:semaphore" => () => Waits.Semaphore(isHealthy),
                "deadlock:token" => () => Waits.Token(isHealthy),
                "deadlock:timer" => () => Waits.TimersEnd(isHealthy),
                "deadlock:scheduler" => () => Waits.Scheduler(isHealthy),
                "pool_starved" => () => Waits.Pool(isHealthy),
                "exit_blocked" => () => Exits.Handler(isHealthy),
                "exit_blocked:main" => () => Exits.Journal(isHealthy),
                "exit_blocked:finalizer" => () => Exits.Finalizer(isHealthy),
                "interned_strings" => Intern,
                "many_exceptions" => Exceptions,
                "long_chains" => Chains,
                "gc_time" => Collections,
                "lost_signal" => () => Signals.Countdown(isHealthy ? kept : null),
                "lost_signal:barrier" => () => Signals.Colors(isHealthy ? kept : null),
                "lost_signal:event" => () => Signals.Ink(isHealthy ? kept : null),
                "lost_signal:pulse" or "lost_signal:semaphore" or "lost_signal:place" =>
                    () => Signals.Docks(isHealthy ? kept : null, arguments[0].Split(':')[1]),
                "deadlock:itself" => () => Signals.Self(isHealthy),
                "deadlock:order" => () => Signals.Order(isHealthy),
                "deadlock:reentrant" => () => kept.Add(new Safe(isHealthy).CloseAsync()),
                "failed_calls" => () => Signals.Failed(kept, isHealthy),
                "root_scope" => RootScope,
                "open_scopes" => OpenScopes,
                "many_timers" => Timers,
                "event_handlers" => Handlers,
                "cancellation_registrations" => Registrations,
                "cancellation_registrations:large" => LargeRegistrations,
                "many_timers:delays" => Delays,
                "failed_reader" => FailedReader,
                "captured_values" => CapturedValues,
                "weak_table" => WeakTable,
                "dependent_handles" => DependentHandles,
                "http_clients" => Clients,
                "http_clients:dropped" => DroppedClients,
                "memory_limit" => MemoryLimit,
                "fragmentation" => Holes,
                "unidentified_memory" => Mapped,
                "contexts_cannot_unload" => Plugins,
                "open_handles" => Files,
                "open_handles:views" => Views,
                "made_assemblies" => Serializers,
                "thread_statics" => Scratches,
                "generic_statics" => Generics,
                "cache_without_limit" => Caches,
                "dead_references" => () => Gathered.References(isHealthy),
                "gc_handles" => () => Gathered.Handles(isHealthy),
                "waiting_continuations" => () => Gathered.Continuations(isHealthy),
                "unbounded_queue" => () => Gathered.Queue(isHealthy),
                "nested_scopes" => () => Gathered.LogScopes(isHealthy),
                "nested_scopes:activities" => () => Gathered.Activities(isHealthy),
                "unbounded_queue:collection" => () => Gathered.Collection(isHealthy),
                "unbounded_queue:block" => () => Gathered.Block(isHealthy),
                "kept_subscriptions:meters" => () => Gathered.Meters(isHealthy),
                "many_timers:large" => () => Gathered.Alarms(isHealthy),
                "kept_subscriptions" => () => Gathered.Subscriptions(isHealthy),
                "kept_subscriptions:events" => () => Gathered.Listeners(isHealthy),
                "stacked_queries" => () => Gathered.Queries(isHealthy),
                "ended_thread_values" => () => Gathered.ThreadValues(isHealthy),
                "open_handles:sockets" => Sockets,
                "open_handles:again" => ViewsOfOneFile,
                "ended_requests" => EndedRequests,
                "waiting_requests" => () => WaitingRequests("/pay"),
                "waiting_requests:http" => () => WaitingRequests("/fetch"),
                _ => throw new ArgumentException(arguments[0])
            };
            way();
            Thread.Sleep(300);
            if (arguments[0] == "exit_blocked:main" && !isHealthy)
                return; // and the process should end
            Truth.Print("\"said\": {}");
            Truth.Wait();
            GC.KeepAlive(kept);
        }
    }
}
