// Types that zoo loads several times over, into collectible and ordinary load contexts.
using System;
using System.Collections.Generic;

namespace Plugged
{
    public class Part
    {
        public string Name;
        public Part Next;
        public object Anything;
        public static Part Shared = new Part { Name = "shared part" };
        [ThreadStatic] public static Part PerThread;
    }

    public struct Pair
    {
        public long Number;
        public Part Part;
    }

    public class Box<T>
    {
        public T Value;

        public class Lid
        {
            public Box<T> Of;
        }
    }

    public enum Grade : byte { Low = 1, High = 200 }

    public static class Factory
    {
        // Everything the zoo wants from a plugin; `count` counts own types, `keep` only keeps.
        public static void Make(Action<object> count, Action<object> keep)
        {
            keep(Part.Shared);
            Part.PerThread = new Part { Name = "on this thread" };
            keep(Part.PerThread);
            for (int i = 0; i < 10; i++)
                keep(new Part { Name = "part " + i });
            count(new Pair { Number = 1, Part = new Part() });
            count(new Box<int> { Value = 3 });
            count(new Box<Part>.Lid { Of = new Box<Part>() });
            count(Grade.High);

            // Framework types instantiated over plugin types: on .NET 8 their loader module is the plugin's.
            keep(new List<Part> { new Part(), new Part() });
            keep(new Dictionary<string, Part> { ["a"] = new Part() });
            keep(new Dictionary<Part, List<Pair>> { [new Part()] = new List<Pair> { new Pair() } });
            keep(new Pair[7]);
            keep(new Part[2, 3]);
            keep(new KeyValuePair<Grade, Part>[2]);
            keep((Func<Part, int>)(part => part.Name.Length));
        }
    }
}
