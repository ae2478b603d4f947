// A cache that forgets what was not asked for longest, as programs write them: a dictionary and a list of entries by use. And
// calls that wait: chains of async methods on an answer that never comes.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Business
{
    sealed class CacheEntry
    {
        public string Key, Rendered;
        public Customer About;
        public object Expires;
        public LinkedListNode<CacheEntry> Place;
    }

    sealed class Cache
    {
        readonly ConcurrentDictionary<string, CacheEntry> entries = new();
        readonly LinkedList<CacheEntry> byUse = new();
        readonly int most;

        public Cache(int most) => this.most = most;
        public int Count => entries.Count;

        public void Put(Customer customer, DateTime now)
        {
            var entry = new CacheEntry
            {
                Key = "customer/" + customer.Id, Rendered = customer.Name + ", " + customer.Home.City, About = customer,
                Expires = now.AddMinutes(customer.Id % 60),
            };
            entries[entry.Key] = entry;
            entry.Place = byUse.AddFirst(entry);
            if (byUse.Count <= most)
                return;
            entries.TryRemove(byUse.Last.Value.Key, out _);
            byUse.RemoveLast();
        }

        public void Forget(Customer customer)
        {
            if (entries.TryRemove("customer/" + customer.Id, out CacheEntry entry))
                byUse.Remove(entry.Place);
        }
    }

    sealed class Call
    {
        public readonly TaskCompletionSource<string> Answer = new();
        public Order Order;
        public Task<decimal> Running;

        public static Call Start(Order order)
        {
            var call = new Call { Order = order };
            call.Running = call.Settle(order, order.Lines.Count);
            return call;
        }

        async Task<decimal> Settle(Order order, int tries)
        {
            string answer = await Ask(order, "settle " + order.Number);
            return order.Payment.Amount + answer.Length + tries;
        }

        async Task<string> Ask(Order order, string question)
        {
            string answer = await Answer.Task.ConfigureAwait(false);
            return question + answer + order.Id;
        }
    }
}
