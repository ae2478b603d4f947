// worker [threads]
// Threads that allocate, link, sum up and drop objects without end, and check what they find. To each line on its input
// the program answers "WORK n", the rounds done so far by the thread that did least, or "BROKEN what".
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Worker
{
    class Link
    {
        public Link Next;
        public long Number;
        public byte[] Filling;
    }

    static class Program
    {
        static long[] rounds;
        static volatile string broken;

        static void Main(string[] arguments)
        {
            int threads = arguments.Length > 0 ? int.Parse(arguments[0]) : 4;
            rounds = new long[threads * 16]; // a cache line each
            string types = Truth.Types();
            Truth.AfterLastCollection();
            for (int i = 0; i < threads; i++)
            {
                int index = i;
                new Thread(() => Work(index)) { IsBackground = true }.Start();
            }
            Truth.Print(types);
            while (Truth.Wait())
                Console.WriteLine(broken == null
                    ? "WORK " + Enumerable.Range(0, threads).Min(i => Volatile.Read(ref rounds[i * 16]))
                    : "BROKEN " + broken);
        }

        static void Work(int index)
        {
            var kept = new Queue<Link>();
            var random = new Random(index);
            for (long round = 0; ; round++)
            {
                int length = random.Next(10, 200);
                Link first = null;
                for (int i = 0; i < length; i++)
                    first = new Link { Next = first, Number = i ^ round, Filling = new byte[random.Next(200)] };
                first.Number = round; // its own sum follows from the round alone
                kept.Enqueue(first);
                if (kept.Count > 100)
                    Check(kept.Dequeue());
                Volatile.Write(ref rounds[index * 16], round + 1);
            }
        }

        static void Check(Link first)
        {
            int count = 0;
            for (Link link = first; link != null; link = link.Next)
                count++;
            int at = count - 1;
            for (Link link = first; link != null; link = link.Next, at--)
                if ((link != first && link.Number != (at ^ first.Number)) || link.Filling.Any(b => b != 0))
                    broken = "link " + at + " of round " + first.Number + " has number " + link.Number;
        }
    }
}
