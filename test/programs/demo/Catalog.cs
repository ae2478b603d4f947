// Products, customers and orders: what a shop has in memory by right.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Shop
{
    readonly record struct Money(decimal Amount, string Currency);

    class Product
    {
        public int Number;
        public string Name;
        public string Category;
        public Money Price;
        public List<Review> Reviews;
    }

    class Review
    {
        public byte Stars;
        public string Text;
    }

    static class Catalog
    {
        const int Count = 1_500;
        static readonly string[] materials = ["Oak", "Linen", "Steel", "Wool", "Glass", "Bamboo", "Copper"];
        static readonly string[] things = ["Chair", "Lamp", "Blanket", "Teapot", "Shelf", "Basket", "Vase", "Mirror"];
        static readonly string[] categories = ["Furniture", "Kitchen and Table", "Lighting", "Textiles", "Garden"];
        static readonly string[] opinions = ["Lovely!", "Arrived late, but well packed.", "Smaller than I thought."];

        public static readonly Dictionary<int, Product> Products = new();
        public static readonly ConcurrentDictionary<string, int> Stock = new(2, Count);
        static readonly decimal[,] sales = new decimal[12, 5]; // by month and category
        static int reviews;

        public static void Load()
        {
            var dice = new Dice(1);
            for (int number = 0; number < Count; number++)
            {
                var product = new Product
                {
                    Number = number,
                    Name = $"{dice.Choose(materials)} {dice.Choose(things)} No. {number}",
                    Category = Database.Column(dice.Choose(categories)),
                    Price = new Money(dice.Throw(20_000) / 100m, "EUR"),
                };
                if (number % 4 == 0)
                    product.Reviews = [NewReview(dice), NewReview(dice)];
                Products.Add(number, product);
                Stock[product.Name] = dice.Throw(40);
                sales[number % 12, number % 5] += product.Price.Amount;
            }
        }

        public static Product Any(Dice dice) => Products[dice.Throw(Count)];

        public static void Expect()
        {
            Truth.Expect(typeof(Product), Count);
            Truth.Expect(typeof(Review), reviews);
            Truth.Expect(typeof(Dictionary<int, Product>), 1);
            Truth.Expect(typeof(decimal[,]), 1);
        }

        static Review NewReview(Dice dice)
        {
            reviews++;
            return new Review { Stars = (byte)(1 + dice.Throw(5)), Text = Database.Column(dice.Choose(opinions)) };
        }
    }

    class Address
    {
        public string Street, City, Country;
    }

    class Customer
    {
        public int Number;
        public string Name, Mail;
        public Address Home;
        public Address Work; // few have one
    }

    static class Customers
    {
        const int Count = 1_200;
        static readonly string[] first = ["Ada", "Barbara", "Donald", "Edsger", "Grace", "John", "Niklaus", "Tony"];
        static readonly string[] last = ["Baker", "Carver", "Fisher", "Gardener", "Miller", "Potter", "Smith", "Weaver"];
        static readonly string[] cities = ["Berlin", "Lyon", "Porto", "Turin", "Utrecht", "Vienna"];
        static readonly string[] countries = ["Germany", "France", "Portugal", "Italy", "The Netherlands", "Austria"];

        public static readonly List<Customer> All = new();
        static int addresses;

        public static void Load()
        {
            var dice = new Dice(2);
            for (int number = 0; number < Count; number++)
            {
                string name = $"{dice.Choose(first)} {dice.Choose(last)}";
                All.Add(new Customer
                {
                    Number = number,
                    Name = name,
                    Mail = $"{name.Replace(' ', '.').ToLowerInvariant()}.{number}@example.com",
                    Home = NewAddress(dice),
                    Work = number % 20 == 0 ? NewAddress(dice) : null,
                });
            }
        }

        public static void Expect()
        {
            Truth.Expect(typeof(Customer), Count);
            Truth.Expect(typeof(Address), addresses);
        }

        static Address NewAddress(Dice dice)
        {
            addresses++;
            int city = dice.Throw(cities.Length);
            return new Address
            {
                Street = $"{dice.Throw(90) + 1} Market Street",
                City = Database.Column(cities[city]),
                Country = Database.Column(countries[city]),
            };
        }
    }

    enum OrderState : byte { Placed, Paid, Shipped, Returned }

    struct OrderLine // no object: lies in its order's list
    {
        public Product Product;
        public int Quantity;
        public Money Price;
    }

    class Order
    {
        public Guid Id;
        public Customer Customer;
        public List<OrderLine> Lines;
        public DateTime Placed;
        public DateTime? Shipped;
        public OrderState State;
    }

    static class OrderBook
    {
        const int Count = 2_000;
        public static readonly SortedDictionary<DateTime, Order> Orders = new();
        public static readonly Queue<Order> Waiting = new(); // for a worker

        public static void Load()
        {
            var dice = new Dice(3);
            for (int i = 0; i < Count; i++)
            {
                Order order = New(i, dice);
                Orders.Add(order.Placed, order);
            }
        }

        public static Order New(int i, Dice dice)
        {
            var order = new Order
            {
                Id = new Guid(i, 7, 7, 1, 2, 3, 4, 5, 6, 7, 8),
                Customer = Customers.All[dice.Throw(Customers.All.Count)],
                Lines = new List<OrderLine>(),
                Placed = Database.Today.AddMinutes(-3 * (Count - i)),
                State = (OrderState)dice.Throw(4),
            };
            for (int lines = 1 + dice.Throw(3); lines > 0; lines--)
            {
                Product product = Catalog.Any(dice);
                order.Lines.Add(new OrderLine { Product = product, Quantity = 1 + dice.Throw(3), Price = product.Price });
            }
            return order;
        }

        public static void Expect()
        {
            Truth.Expect(typeof(Order), Count + Workers.OrdersInWork);
            Truth.Expect(typeof(List<OrderLine>), Count + Workers.OrdersInWork);
        }
    }

    class Posting
    {
        public Product Product;
        public int Rank;
        public Posting Next;
    }

    // Words to products. What belongs to a product goes when the product goes: dependent handles.
    static class SearchIndex
    {
        const int Count = 8_000;
        static Dictionary<string, Posting> words, oldWords;
        static readonly ConditionalWeakTable<Product, Posting> best = new();

        public static void Rebuild()
        {
            words = new Dictionary<string, Posting>();
            oldWords = new Dictionary<string, Posting>();
            var dice = new Dice(4);
            for (int i = 0; i < Count; i++)
            {
                Product product = Catalog.Any(dice);
                Add(words, product, i);
                Add(oldWords, product, -i);
                if (i < 40)
                    best.AddOrUpdate(Catalog.Products[i], words[product.Category]);
            }
            // Old enough for gen2, and then not needed any more.
            GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
            oldWords = null;
        }

        public static void Expect() => Truth.Expect(typeof(Posting), Count);

        static void Add(Dictionary<string, Posting> index, Product product, int rank)
        {
            index.TryGetValue(product.Category, out Posting next);
            index[product.Category] = new Posting { Product = product, Rank = rank, Next = next };
        }
    }
}
