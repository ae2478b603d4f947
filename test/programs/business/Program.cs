// business N [TYPES]
// About N objects as a business program has them after some days: customers with orders, lines and payments, reachable by
// several indexes and caches, documents, pending calls, handlers of events, and records of TYPES emitted and generic classes (if
// not said: one per thousand objects, at most 3,000). They come in waves. Each wave drops what was made in passing and some
// customers of earlier waves, and between waves the heap is compacted, so there are survivors of every age: what is left of
// the early waves lies in order, later ones lie between them, and a last one is in gen1 and gen0.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Business
{
    sealed class Sale
    {
        public readonly List<Emitted.Record> Log = new();
        public readonly Dictionary<long, Customer> Customers = new();
        public readonly ConcurrentDictionary<long, Order> Open = new();
        public readonly SortedDictionary<DateTime, List<Order>> ByDay = new();
        public readonly Dictionary<string, List<Customer>> ByCity = new();
        public readonly List<Call> Calls = new();
        public readonly Queue<object> Passing = new();
        public Product[] Products;
        public Cache Cache;
    }

    static class Program
    {
        const int Waves = 8;
        const int PerCustomer = 47; // objects for each customer that comes, the dead left out; measured
        static readonly string[] Segments = { "retail", "wholesale", "public", "internal" };
        static readonly string[] Currencies = { "EUR", "USD", "CHF" };
        static readonly DateTime Start = new(2024, 1, 1);
        static readonly Sale sale = new();
        static readonly object[] scores = new object[100];
        static string[] cities;
        static uint random = 1;
        static readonly Dictionary<Type, long> payments = new();
        static long ids, orderIds, orders, lines;

        static uint Next() => random = random * 1664525 + 1013904223;
        static uint Next(uint below) => (uint)(((ulong)Next() * below) >> 32);

        static void Main(string[] arguments)
        {
            int objects = int.Parse(arguments[0]);
            int types = arguments.Length > 1 ? int.Parse(arguments[1]) : Math.Clamp(objects / 1000, 30, 3000);
            Emitted.Types.Make(types);
            Prepare(objects);
            int customers = objects / PerCustomer;
            for (int wave = 0; wave < Waves; wave++)
            {
                Come(customers / Waves);
                Leave(wave);
                if (wave % 3 == 1)
                    GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: true);
            }
            Truth.AfterLastCollection();
            sale.Passing.Clear();
            GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);

            // Young ones, which nobody drops again.
            Come(customers / 100);
            GC.Collect(0);
            Come(Math.Min(customers / 100, 100));
            Expect();
            Truth.Print(Truth.Types());
            while (Truth.Wait())
            {
            }
            GC.KeepAlive(sale);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Prepare(int objects)
        {
            cities = new string[500];
            for (int i = 0; i < cities.Length; i++)
                sale.ByCity[cities[i] = "City of " + i] = new List<Customer>();
            for (int i = 0; i < scores.Length; i++)
                scores[i] = i;
            sale.Products = new Product[Math.Max(100, objects / 400)];
            for (int i = 0; i < sale.Products.Length; i++)
            {
                sale.Products[i] = new Product { Number = "P" + i, Name = "Product number " + i, Unit = "piece", Price = i };
                if (i % 4 == 0)
                    sale.Products[i].Properties = new Dictionary<string, string> { ["colour"] = "grey", ["size"] = i.ToString() };
            }
            sale.Cache = new Cache(objects / 400);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Come(int count)
        {
            for (; count > 0; count--)
                NewCustomer();
        }

        static void NewCustomer()
        {
            string city = cities[Next(500) * Next(500) / 500];
            var customer = new Customer
            {
                Id = ids++, Name = "Customer " + Next(), Segment = Segments[Next(4)], Score = scores[Next(100)],
                Fingerprint = new byte[16 + Next(17)],
            };
            customer.Mail = customer.Name.Replace(' ', '.') + "@example.org";
            customer.Home = new Address { Street = Next(200) + " Main Street", City = city, Country = "XX", Owner = customer };
            if (Next(5) == 0)
                customer.Delivery = new Address { Street = "Gate " + Next(9), City = cities[Next(500)], Country = "XX", Owner = customer };
            if (Next(4) == 0)
                customer.Tags = new Dictionary<string, string> { ["source"] = "web", ["note"] = "n" + Next(1000), ["agent"] = city };
            if (customer.Id > 0 && Next(3) == 0 && sale.Customers.TryGetValue(Next((uint)customer.Id), out Customer other) && !Leaves(other))
                customer.ReferredBy = other;
            sale.Customers[customer.Id] = customer;
            sale.ByCity[city].Add(customer);
            for (uint count = Next(6); count > 0; count--)
                NewOrder(customer);
            Emitted.Record record = null;
            for (uint count = Next(7); count > 0; count--)
            {
                Emitted.Record newer = Emitted.Types.New(Next());
                newer.Previous = record;
                newer.Subject = customer;
                record = newer;
            }
            customer.Extension = record;
            if (Next(8) == 0)
                Log(customer.Id);
            uint document = Next(20);
            if (document < 2)
                customer.Document = Documents.Json(customer, Next());
            else if (document < 4)
                customer.Document = Documents.Xml(customer, Next());
            if (Next(8) == 0 && !Leaves(customer))
                Watch(customer, sale.Products[Next((uint)sale.Products.Length)]);
            if (Next(10) == 0)
                sale.Cache.Put(customer, Start);
            Pass(customer);
        }

        static void NewOrder(Customer customer)
        {
            var order = new Order
            {
                Id = orderIds++, Customer = customer, Status = (Status)Next(4), Lines = new List<Line>(),
                Placed = Start.AddDays(Next(700)),
            };
            order.Number = "O-" + order.Id;
            for (uint count = 1 + Next(5); count > 0; count--)
                order.Lines.Add(new Line
                {
                    Order = order, Product = sale.Products[Next((uint)sale.Products.Length)], Quantity = (int)Next(9), Price = Next(100),
                    Note = Next(10) == 0 ? "note " + Next(100000) : null,
                });
            order.Payment = NewPayment(order);
            if (Next(2) == 0)
            {
                order.Shipment = new Shipment { Order = order, Carrier = "Carrier" };
                if (Next(4) == 0)
                    order.Shipment.Stations = new LinkedList<string>(new[] { customer.Home.City, cities[Next(500)] });
            }
            if (Next(6) == 0)
                order.Attributes = new Dictionary<string, object>
                    { ["weight"] = (double)Next(1000), ["parcels"] = (int)Next(5), ["gift"] = true, ["ref"] = Guid.Empty };
            if (Next(6) == 0)
                order.Summary = Summary(order);
            Count(order, 1);
            customer.Orders.Add(order);
            if (order.Status == Status.Open)
                sale.Open[order.Id] = order;
            if (Next(60) == 0)
                sale.Calls.Add(Call.Start(order));
            if (!sale.ByDay.TryGetValue(order.Placed, out List<Order> day))
                sale.ByDay[order.Placed] = day = new List<Order>();
            day.Add(order);
        }

        static Lazy<string> Summary(Order order) => new(() => order.Number + " of " + order.Customer.Name);

        static Payment NewPayment(Order order)
        {
            Payment payment;
            switch (Next(3))
            {
                case 0: payment = new Card { Token = new byte[8 + Next(24)] }; break;
                case 1: payment = new Invoice { Number = "I" + order.Id, Due = order.Placed.AddDays(14) }; break;
                default: payment = new Transfer { Account = "XX" + Next(), Reference = (long)order.Id }; break;
            }
            payment.Order = order;
            payment.Currency = Currencies[Next(3)];
            payment.Amount = Next(1000);
            return payment;
        }

        // The log holds records of their own kind, not held by anybody else.
        static void Log(long id)
        {
            Emitted.Record record = Emitted.Types.New(Next());
            record.Subject = id;
            sale.Log.Add(record);
        }

        static void Watch(Customer customer, Product product) => product.PriceChanged += (sender, e) => customer.Score = sender;

        // What requests leave behind for a while: some of it gets old before it dies.
        static void Pass(Customer customer)
        {
            sale.Passing.Enqueue(new object[] { new string('p', (int)Next(60)), customer.Name + "?", new byte[Next(200)] });
            if (sale.Passing.Count > 20_000)
                sale.Passing.Dequeue();
        }

        // Of what is there some customers go, with all that is theirs; others lose their orders. Nobody else refers to these.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Leave(int wave)
        {
            var gone = new HashSet<Order>();
            foreach (Customer customer in new List<Customer>(sale.Customers.Values))
            {
                bool goes = Leaves(customer) && customer.Id % 80 / 10 == wave;
                if (!goes && (customer.Id % 40 != 5 || customer.Orders.Count == 0))
                    continue;
                gone.UnionWith(customer.Orders);
                customer.Orders.ForEach(Forget);
                customer.Orders = new List<Order>();
                customer.Document = null;
                if (goes)
                    Forget(customer);
            }
            foreach (List<Order> day in sale.ByDay.Values)
                day.RemoveAll(gone.Contains);
            foreach (List<Customer> city in sale.ByCity.Values)
                city.RemoveAll(customer => !sale.Customers.ContainsKey(customer.Id));
            sale.Calls.RemoveAll(call => gone.Contains(call.Order));
        }

        static bool Leaves(Customer customer) => customer.Id % 10 == 3;

        static void Forget(Customer customer)
        {
            sale.Customers.Remove(customer.Id);
            sale.Cache.Forget(customer);
            for (Emitted.Record record = customer.Extension; record != null; record = record.Previous)
                Emitted.Types.Forget(record);
        }

        static void Forget(Order order)
        {
            sale.Open.TryRemove(order.Id, out _);
            Count(order, -1);
        }

        static void Count(Order order, int change)
        {
            orders += change;
            lines += change * order.Lines.Count;
            payments[order.Payment.GetType()] = payments.GetValueOrDefault(order.Payment.GetType()) + change;
        }

        static void Expect()
        {
            Truth.Expect(typeof(Customer), sale.Customers.Count);
            Truth.Expect(typeof(Order), orders);
            Truth.Expect(typeof(Line), lines);
            foreach (var (type, count) in payments)
                Truth.Expect(type, count);
            Truth.Expect(typeof(Product), sale.Products.Length);
            Truth.Expect(typeof(CacheEntry), sale.Cache.Count);
            Truth.Expect(typeof(Call), sale.Calls.Count);
            Emitted.Types.Expect();
        }
    }
}
