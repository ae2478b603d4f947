// Contexts of Entity Framework Core: some that a cache keeps and that track more and more, one that somebody disposed and
// still holds, one that has tracked nothing, and some that were disposed and wait in a pool. Queries that differ in a
// constant only, each of which is compiled and cached, and one with a variable, which is compiled once. Its truth, "said":
// what their own change trackers count, by state, and how many queries differ in constants.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Linq.Expressions;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;

namespace Shop
{
    sealed class Order
    {
        public int Id { get; set; }
        public string Article { get; set; } = "";
        public Address Address { get; set; }
        public List<Line> Lines { get; set; } = new();
    }

    sealed class Line
    {
        public int Id { get; set; }
    }

    // Owned: an entry of its own.
    sealed class Address
    {
        public string City { get; set; } = "";
    }

    sealed class Orders : DbContext
    {
        public Orders(DbContextOptions<Orders> options) : base(options) { }
        public DbSet<Order> All => Set<Order>();
        protected override void OnModelCreating(ModelBuilder model) => model.Entity<Order>().OwnsOne(order => order.Address);
    }

    sealed class Job
    {
        public readonly Orders Database;
        public Job(Orders database) => Database = database;
    }

    sealed class Closed
    {
        public readonly Orders Database;
        public Closed(Orders database) => Database = database;
    }

    static class Program
    {
        static readonly List<Job> jobs = new();
        static readonly List<Closed> closed = new();
        static readonly List<Orders> rented = new();
        static PooledDbContextFactory<Orders> pool;
        static int trackedByClosed; // still are

        static Order Make(int id) =>
            new() { Id = id, Article = "article " + id, Address = new Address { City = "Ulm" }, Lines = { new Line { Id = 2 * id }, new Line { Id = 2 * id + 1 } } };

        static void Use(DbContextOptions<Orders> options)
        {
            using (var first = new Orders(options))
            {
                first.AddRange(Enumerable.Range(1, 400).Select(Make));
                first.SaveChanges();
            }
            for (int i = 1; i <= 6; ++i)
            {
                var database = new Orders(options);
                jobs.Add(new Job(database));
                Order[] loaded = database.All.Include(order => order.Lines).OrderBy(order => order.Id).Take(10 * i).ToArray();
                for (int k = 0; k < i; ++k)
                    loaded[k].Article = "changed";
                database.Remove(loaded[i + 1].Lines[0]);
                database.Add(Make(1000 + i));
                database.ChangeTracker.DetectChanges();
            }
            jobs.Add(new Job(new Orders(options))); // tracks nothing
            for (int i = 0; i < 3; ++i)
            {
                var database = new Orders(options);
                database.All.Take(20).ToArray();
                trackedByClosed += database.ChangeTracker.Entries().Count();
                closed.Add(new Closed(database));
                database.Dispose();
            }
            pool = new PooledDbContextFactory<Orders>(options);
            for (int i = 0; i < 4; ++i)
                rented.Add(pool.CreateDbContext());
            foreach (Orders database in rented)
            {
                database.All.Take(5).ToArray();
                database.Dispose();
            }
            rented.Clear();
        }

        static int Count(IEnumerable<Orders> contexts, params EntityState[] states) =>
            contexts.Sum(context => context.ChangeTracker.Entries().Count(entry => states.Length == 0 || states.Contains(entry.State)));

        const int differentQueries = 150;

        static void Search(DbContextOptions<Orders> options)
        {
            using var database = new Orders(options);
            for (int i = 0; i < differentQueries; ++i)
            {
                ParameterExpression order = Expression.Parameter(typeof(Order), "order");
                Expression isIt = Expression.Equal(Expression.Property(order, nameof(Order.Id)), Expression.Constant(i));
                database.All.Where(Expression.Lambda<Func<Order, bool>>(isIt, order)).OrderBy(one => one.Article).Count();
                database.All.Count(one => one.Id == i);
            }
        }

        static string Said()
        {
            Orders[] open = jobs.Select(job => job.Database).ToArray();
            foreach (Orders database in open)
                database.ChangeTracker.AutoDetectChangesEnabled = false;
            return $"\"contexts\": {open.Length}, \"tracked\": {Count(open)}, \"most\": {open.Max(one => Count(new[] { one }))}, " +
                   $"\"unchanged\": {Count(open, EntityState.Unchanged)}, \"added\": {Count(open, EntityState.Added)}, " +
                   $"\"modified\": {Count(open, EntityState.Modified)}, \"deleted\": {Count(open, EntityState.Deleted)}, " +
                   $"\"closed\": {closed.Count}, \"tracked_by_closed\": {trackedByClosed}, \"pooled\": 4, " +
                   $"\"different_queries\": {differentQueries}";
        }

        static void Main()
        {
            Use(new DbContextOptionsBuilder<Orders>().UseInMemoryDatabase("shop").Options);
            string said = Said();
            Search(new DbContextOptionsBuilder<Orders>().UseInMemoryDatabase("shop").Options);
            for (int i = 0; i < 3; ++i)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Truth.Print($"\"said\": {{{said}}}");
            Truth.Wait();
            GC.KeepAlive(pool);
        }
    }
}
