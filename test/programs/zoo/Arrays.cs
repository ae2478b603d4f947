// Arrays of every shape and element.
using System;
using System.Collections.Generic;

namespace Zoo
{
    struct Mixed
    {
        public byte Small;
        public object First;
        public long Number;
        public string Second;
        public Coordinates Place;
        public Node Third;
    }

    struct Coordinates { public double X, Y; }

    struct Empty { }

    static unsafe class Arrays
    {
        static int One() => 1;

        public static void Make()
        {
            Truth.Keep(new Node[0]);
            Truth.Keep(new Node[1]);
            Truth.Keep(new Node[1000]);
            Truth.Count(new Node[2, 3]);
            Truth.Count(new Node[2, 0, 4]);
            Truth.Count(new Node[2, 3, 4, 5]);
            Truth.Count(new Node[3][]);
            Truth.Count(new Node[2][,][]);
            Truth.Count(new Node[2, 2][]);
            Truth.Count(new Mixed[0]);
            Truth.Count(new Mixed[17]);
            Truth.Count(new Mixed[3, 3]);
            Truth.Count(new Coordinates[9]);
            Truth.Count(new Empty[5]);
            Truth.Count(new Color[3]);
            Truth.Count(new Letter*[4]);
            Truth.Count(new Letter**[2]);
            Truth.Count(new Letter*[2, 2]);
            Truth.Count(Array.CreateInstance(typeof(Coordinates), new[] { 3 }, new[] { 5 }));
            Truth.Count(Array.CreateInstance(typeof(Node), new[] { 3 }, new[] { -2 }));
            Truth.Count(Array.CreateInstance(typeof(Node), new[] { 2, 2 }, new[] { 1, 1 }));

            Truth.Keep(new int*[4]);
            Truth.Keep(new void*[4]);
            Truth.Keep(new delegate*<int, void>[3]);
            var functions = new delegate*<int>[2];
            functions[0] = &One;
            Truth.Keep(functions);
            Truth.Keep(Array.CreateInstance(typeof(int), new[] { 3 }, new[] { 5 }));
            Truth.Keep(Array.CreateInstance(typeof(string), new[] { 0 }, new[] { 1 }));

            Truth.Keep(new int[3, 4, 5]);
            Truth.Keep(new string[3, 4]);
            Truth.Keep(new int[3][][]);
            Truth.Keep(new List<int>[3]);
            Truth.Keep(new Dictionary<int, Mixed>[2, 2]);
            Truth.Keep(new KeyValuePair<string, Mixed>[6]);
            Truth.Keep(new int?[6]);
            Truth.Keep(new DateTimeOffset?[6]);
            Truth.Keep(new object[] { 1, "two", 3.0, 'c', true, new object[0] });
            Truth.Keep(new decimal[2]);
            Truth.Keep(new Int128[2]);
            Truth.Keep(new IComparable[2]);
            Truth.Keep(new Action[2]);
            Truth.Keep(new Memory<byte>[2]);
            Truth.Keep(new ArraySegment<string>[2]);

            // Element sizes that are no multiple of 8, at every length modulo 8.
            for (int length = 0; length < 17; length++)
            {
                Truth.Keep(new byte[length]);
                Truth.Keep(new char[length]);
                Truth.Keep(new bool[length]);
                Truth.Count(new Odd[length]);
                Truth.Count(new Tiny[length]);
            }
        }
    }
}
