// What only threads hold, what is large, what is pinned, and what went wrong.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Shop
{
    static class Images
    {
        static readonly List<byte[]> banners = new();  // in the large object heap
        static readonly List<byte[]> network = new();  // in the pinned object heap
        static readonly List<GCHandle> pinned = new(); // pinned where they are
        static readonly Dictionary<string, WeakReference<byte[]>> thumbnails = new();

        public static void Load()
        {
            for (int i = 0; i < 4; i++)
                banners.Add(new byte[100_000 + 150_000 * i]);
            for (int i = 0; i < 6; i++)
                network.Add(GC.AllocateArray<byte>(16_384, pinned: true));
            for (int i = 0; i < 10; i++)
            {
                var thumbnail = new byte[1_000];
                thumbnails.Add($"thumbnail {i}", new WeakReference<byte[]>(thumbnail));
                if (i % 2 == 0)
                    pinned.Add(GCHandle.Alloc(thumbnail, GCHandleType.Pinned));
            }
        }
    }

    class PaymentException : Exception
    {
        public Order Order;

        public PaymentException(string message, Exception inner) : base(message, inner) { }
    }

    static class Errors
    {
        const int Count = 12;
        static readonly ConcurrentQueue<Exception> recent = new();

        public static void Collect()
        {
            foreach (Order order in OrderBook.Orders.Values)
            {
                if (recent.Count == Count)
                    break;
                try
                {
                    Pay(order);
                }
                catch (PaymentException error)
                {
                    recent.Enqueue(error);
                }
            }
        }

        public static void Expect() => Truth.Expect(typeof(PaymentException), Count);

        static void Pay(Order order)
        {
            try
            {
                throw new IOException("the bank closed the connection");
            }
            catch (IOException error)
            {
                throw new PaymentException("payment failed", error) { Order = order };
            }
        }
    }

    // Holds something that the operating system gave, so it has a finalizer.
    class Connection
    {
        public readonly byte[] Buffer = new byte[4_096];
        ~Connection() { }
    }

    static class Workers
    {
        const int Count = 3, BatchSize = 20;
        public const int OrdersInWork = Count * BatchSize;

        [ThreadStatic] static StringBuilder log;
        [ThreadStatic] static Connection connection;

        static readonly ManualResetEvent takeOrders = new(false);
        static readonly ManualResetEvent never = new(false);
        static readonly CountdownEvent ready = new(Count + 1);
        static readonly CountdownEvent taken = new(Count);

        public static void Start()
        {
            for (int i = 0; i < Count; i++)
            {
                int index = i;
                new Thread(() => Work(index)) { IsBackground = true, Name = $"order worker {i}" }.Start();
            }
            new Thread(WriteReport) { IsBackground = true, Name = "monthly report" }.Start();
            ready.Wait();
        }

        // After the last collection: what the workers make now is in gen0.
        public static void TakeOrders()
        {
            takeOrders.Set();
            taken.Wait();
        }

        public static void Expect() => Truth.Expect(typeof(Connection), Count);

        static void Work(int index)
        {
            log = new StringBuilder($"worker {index} started");
            connection = new Connection();
            ready.Signal();
            takeOrders.WaitOne();
            var batch = new Order[BatchSize]; // held by this thread's stack only
            var dice = new Dice(100 + (uint)index);
            for (int i = 0; i < batch.Length; i++)
                batch[i] = OrderBook.New(1_000_000 + index * 1_000 + i, dice);
            taken.Signal();
            never.WaitOne();
            GC.KeepAlive(batch);
        }

        // Gathers a large text that only this thread's stack holds.
        static void WriteReport()
        {
            var lines = new List<string>();
            for (int i = 0; i < 4_000; i++)
                lines.Add($"{i};{i % 12};EUR");
            string report = string.Join('\n', lines);
            ready.Signal();
            never.WaitOne();
            GC.KeepAlive(report);
            GC.KeepAlive(lines);
        }
    }
}
