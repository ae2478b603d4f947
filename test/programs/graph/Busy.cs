// Threads that never stop allocating, so that a dump catches them anywhere: between two objects, inside an allocation, or
// while a collection runs.
using System;
using System.Threading;

namespace Graph
{
    class Passing
    {
        public object Content;
    }

    static class Busy
    {
        const int Threads = 4;
        const int Kept = 1000;

        public static void Start()
        {
            for (int i = 0; i < Threads; i++)
            {
                int seed = i;
                new Thread(() => Allocate(seed)) { IsBackground = true }.Start();
            }
        }

        static void Allocate(int seed)
        {
            var kept = new Passing[Kept];
            for (int i = seed; ; i++)
            {
                object content = (i % 7) switch
                {
                    0 => new string('b', i % 50),
                    1 => new int[i % 300],
                    2 => new object[i % 20],
                    3 when i % 2000 == 3 => new byte[90_000],
                    _ => i,
                };
                kept[i % Kept] = new Passing { Content = content };
            }
        }
    }
}
