// graph N [background | background-done | busy | tree]
// N linked nodes, N/4 strings, N/8 int arrays, and holes where N/6 small objects died in gen2. The last collection, which
// finds them dead, blocks; or it is a background one, still running when the program says READY, or done by then. To each
// line on its input the program answers whether a background collection is COLLECTING still or has COLLECTED.
// With `busy`, other threads go on allocating while the dump is made.
// With `tree`, the nodes are a random recursive tree instead: each one's parent is any earlier node that has room, so that
// no order of a search follows the heap. A static field holds the tree, and a list holds all nodes.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Graph
{
    class Node
    {
        public Node Next;
        public Node Other;
        public object Payload;
        public long Number;
    }

    class Doomed
    {
        public long First, Second, Third;
    }

    static class Program
    {
        static Node[] nodes;
        static Doomed[] doomed;
        static Node tree;
        static List<Node> all;

        static void Main(string[] arguments)
        {
            int count = int.Parse(arguments[0]);
            string last = arguments.Length > 1 ? arguments[1] : "";
            if (last == "tree")
                BuildTree(count);
            else
                Build(count);
            Truth.Expect(typeof(Node), count);
            Truth.Expect(typeof(Node[]), 1);
            string types = Truth.Types();
            Truth.AfterLastCollection();

            // The dead are a small part of gen2, so the GC sweeps it and leaves a free object in every hole.
            doomed = null;
            long before = BackgroundCollections();
            GC.Collect(2, GCCollectionMode.Forced, blocking: !last.StartsWith("background"), compacting: false);
            while (last == "background-done" && BackgroundCollections() == before)
                Thread.Sleep(10);
            if (last == "busy")
                Busy.Start();
            Truth.Print(types);
            while (Truth.Wait())
                Console.WriteLine(BackgroundCollections() == before ? "COLLECTING" : "COLLECTED");
        }

        // The index of the last background collection that has ended.
        static long BackgroundCollections() => GC.GetGCMemoryInfo(GCKind.Background).Index;

        static void BuildTree(int count)
        {
            all = new List<Node>(count);
            var random = new Random(1);
            for (int i = 0; i < count; i++)
            {
                var node = new Node { Number = i };
                all.Add(node);
                if (i % 4 == 0)
                    node.Payload = new string('x', 8);
                else if (i % 8 == 1)
                    node.Payload = new int[4];
                for (Node parent = i > 0 ? all[random.Next(i)] : null; parent != null; parent = all[random.Next(i)])
                    if (parent.Next == null || parent.Other == null)
                    {
                        if (parent.Next == null)
                            parent.Next = node;
                        else
                            parent.Other = node;
                        break;
                    }
            }
            tree = all[0];
        }

        static void Build(int count)
        {
            nodes = new Node[count];
            doomed = new Doomed[count / 6];
            uint random = 1;
            for (int i = 0; i < count; i++)
            {
                random = random * 1664525 + 1013904223;
                var node = new Node { Number = i };
                nodes[i] = node;
                if (i > 0)
                {
                    // The lists end every thousand nodes; half of the other links are near, half anywhere.
                    node.Next = i % 1000 == 0 ? null : nodes[i - 1];
                    node.Other = nodes[random % 2 == 0 ? Math.Max(0, i - (int)(random >> 20)) : (int)(random % (uint)i)];
                }
                if (i % 4 == 0)
                    node.Payload = new string('x', (int)(random >> 27));
                else if (i % 8 == 1)
                    node.Payload = new int[random >> 26];
                if (i % 6 == 0)
                    doomed[Math.Min(i / 6, doomed.Length - 1)] = new Doomed();
            }
            GC.Collect();
            GC.Collect();
        }
    }
}
