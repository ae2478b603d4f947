// Grows by a known number of orders each time the test writes a line, and by nothing else. Its truth is what it holds at
// first, "said"; each answer is what it holds then: "GREW orders".
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;

namespace Shop
{
    sealed class Order
    {
        public long Number, Price;
        public const int Size = 32; // with its header
    }

    sealed class Setting
    {
        public long Value;
    }

    sealed class Gone
    {
        public long Value;
    }

    static class Ledger
    {
        public static readonly List<Order> Orders = new(1 << 20); // so that it does not grow itself
    }

    static class Settings
    {
        public static readonly Setting[] All = new Setting[1000];
    }
}

static class Program
{
    static Shop.Gone last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AddOrders(int count)
    {
        for (int i = 0; i < count; ++i)
            Shop.Ledger.Orders.Add(new Shop.Order { Number = i });
    }

    // Not in Main, whose frame would hold the array, too.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AddSettings()
    {
        for (int i = 0; i < Shop.Settings.All.Length; ++i)
            Shop.Settings.All[i] = new Shop.Setting { Value = i };
    }

    // Objects that nothing holds any more when this returns.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropSome(int count)
    {
        for (int i = 0; i < count; ++i)
            last = new Shop.Gone { Value = i };
        last = null;
    }

    static void Settle()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        DropSome(2000);
    }

    static void Main(string[] arguments)
    {
        int first = int.Parse(arguments[0]), more = int.Parse(arguments[1]);
        AddSettings();
        AddOrders(first);
        Settle();
        Truth.Print($"\"said\": {{\"orders\": {first}, \"size\": {Shop.Order.Size}, \"settings\": {Shop.Settings.All.Length}, \"gone\": 2000}}");
        while (Truth.Wait())
        {
            AddOrders(more);
            Settle();
            using Stream output = Console.OpenStandardOutput();
            output.Write(Encoding.ASCII.GetBytes($"GREW {Shop.Ledger.Orders.Count}\n"));
        }
    }
}
