// The culprit. Sessions are to be forgotten after 20 minutes, least recently used first; but Forget runs only when a
// visitor logs out, and nearly nobody does. So the cache grows.
using System;
using System.Collections.Generic;

namespace Shop.Cache
{
    class BasketItem
    {
        public Product Product;
        public int Quantity;
        public string Note;
    }

    class Basket
    {
        public readonly List<BasketItem> Items = new(16); // nobody buys so much
        public Money Total;
    }

    class Session
    {
        public string Token;
        public string Browser;
        public string Language;
        public Customer Customer; // null: not logged in
        public Basket Basket = new();
        public DateTime LastSeen;
        public byte[] LastPage;
        public Dictionary<string, object> Properties;
    }

    class SessionCache
    {
        public static readonly SessionCache Shared = new();

        static readonly string[] browsers =
        [
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
        ];
        static readonly string[] languages = ["de-DE,de;q=0.9", "fr-FR,fr;q=0.9", "pt-PT,pt;q=0.9", "en"];
        static readonly TimeSpan lifetime = TimeSpan.FromMinutes(20);

        readonly Dictionary<string, LinkedListNode<Session>> byToken = new();
        readonly LinkedList<Session> byAge = new();
        int items;

        public void ServeVisitors(int count)
        {
            var dice = new Dice(5);
            for (int i = 0; i < count; i++)
                Remember(NewSession(i, dice));
        }

        public void Remember(Session session) => byToken.Add(session.Token, byAge.AddFirst(session));

        // Forgets one session, and those that are too old.
        public void Forget(string token, DateTime now)
        {
            if (byToken.Remove(token, out LinkedListNode<Session> node))
                byAge.Remove(node);
            while (byAge.Last is { } oldest && now - oldest.Value.LastSeen > lifetime)
                Forget(oldest.Value.Token, now);
        }

        public void Expect()
        {
            Truth.Expect(typeof(SessionCache), 1);
            Truth.Expect(typeof(Session), byAge.Count);
            Truth.Expect(typeof(LinkedListNode<Session>), byAge.Count);
            Truth.Expect(typeof(Basket), byAge.Count);
            Truth.Expect(typeof(List<BasketItem>), byAge.Count);
            Truth.Expect(typeof(BasketItem[]), byAge.Count);
            Truth.Expect(typeof(BasketItem), items);
        }

        Session NewSession(int i, Dice dice)
        {
            var session = new Session
            {
                Token = $"{dice.Throw(int.MaxValue):x8}-{i:x8}",
                Browser = Database.Column(dice.Choose(browsers)),
                Language = Database.Column(dice.Choose(languages)),
                Customer = i % 5 == 0 ? Customers.All[dice.Throw(Customers.All.Count)] : null,
                LastSeen = Database.Today.AddSeconds(-10 * i),
                LastPage = new byte[900 + 8 * dice.Throw(40)],
            };
            "<!DOCTYPE html><title>Your basket</title>"u8.CopyTo(session.LastPage);
            for (int count = dice.Throw(4); count > 0; count--)
                session.Basket.Items.Add(NewItem(dice));
            if (i % 10 == 0)
                session.Properties = new Dictionary<string, object> { ["visits"] = i % 7, ["newsletter"] = i % 3 == 0 };
            return session;
        }

        BasketItem NewItem(Dice dice)
        {
            items++;
            string note = dice.Throw(8) == 0 ? Database.Column("please wrap as a gift") : null;
            return new BasketItem { Product = Catalog.Any(dice), Quantity = 1 + dice.Throw(2), Note = note };
        }
    }
}
