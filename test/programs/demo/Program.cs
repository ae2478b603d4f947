// A shop that has run for a while and takes more memory than its owner expected. Nothing depends on time or chance, so
// every run makes the same objects. sample/README.md tells what is to be found in it.
using System;
using Shop.Cache;
using Shop.Events;
using Shop.Mail;

namespace Shop
{
    static class Program
    {
        static void Main()
        {
            Catalog.Load();
            Customers.Load();
            OrderBook.Load();
            Images.Load();
            SessionCache.Shared.ServeVisitors(5_000);
            PriceFeed.Shared.OpenViews(2_000);
            Outbox.Start();
            Errors.Collect();
            Workers.Start();
            GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);

            // The search index was rebuilt, and the old one lay scattered between what stays: gen2 is left with holes.
            SearchIndex.Rebuild();
            Expect();
            string types = Truth.Types();
            Truth.AfterLastCollection();
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
            Workers.TakeOrders();
            Truth.Print(types);
            Truth.Wait();
        }

        // What must be found in the dump, no more and no less.
        static void Expect()
        {
            Catalog.Expect();
            Customers.Expect();
            OrderBook.Expect();
            SessionCache.Shared.Expect();
            PriceFeed.Shared.Expect();
            Outbox.Expect();
            Errors.Expect();
            Workers.Expect();
            SearchIndex.Expect();
        }
    }

    // Numbers that look random and are the same in every run.
    sealed class Dice
    {
        uint state;

        public Dice(uint seed) => state = seed;

        public int Throw(int sides)
        {
            state = state * 1664525 + 1013904223;
            return (int)((ulong)state * (uint)sides >> 32);
        }

        public T Choose<T>(T[] from) => from[Throw(from.Length)];
    }

    static class Database
    {
        public static readonly DateTime Today = new(2025, 11, 28, 20, 15, 0, DateTimeKind.Utc);

        // A driver returns a new string for every column of every row, also where all rows say the same.
        public static string Column(string text) => new(text.AsSpan());
    }
}
