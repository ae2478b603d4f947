// Objects with values of every kind, one of each type, and what they are. Its truth has "values": a list of
//   {"type": "Values.Buffers", "rows": {"five.e[4]": ["System.Int32", 14], …}}
// with the rows that `show --values` must have of the only object of that type: its type (null: any), its value.
// "object" stands for what it says of the object itself: {"bounds": "[5..7]"}.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Values
{
    [InlineArray(5)] struct Five { int e; }
    [InlineArray(3)] struct Three { string s; }
    [InlineArray(2)] struct Points { Point p; }
    struct Point { public short X, Y; }
    unsafe struct Fixed { public fixed int x[4]; public fixed char c[2]; public int tail; }

    class Buffers { public Five five; public Three three; public Points points; public Fixed raw; }
    class Generic<T, U>
    {
        public (T, U) both;
        public (T, (U, T)) deep;
        public Dictionary<T, U>.Enumerator walk;
        public KeyValuePair<T, U>? maybe;
        public T value;
    }
    class Numbers
    {
        public Half half = (Half)1.5;
        public Int128 least = Int128.MinValue;
        public UInt128 most = UInt128.MaxValue;
        public decimal price = 12.50m;
        public char quote = '\'', backslash = '\\';
        public DateTime local = new(2024, 2, 29, 1, 2, 3, DateTimeKind.Local), utc = DateTime.UnixEpoch;
        public DateOnly day = new(2024, 2, 29);
        public TimeOnly time = new(1, 2, 3);
        public TimeSpan span = TimeSpan.FromSeconds(1.5);
        public Guid guid = new("00112233-4455-6677-8899-aabbccddeeff");
    }

    static class Program
    {
        static readonly List<object> kept = new();
        static readonly StringBuilder said = new();

        static void Say(object value, string facts, params (string name, string type, object value)[] rows)
        {
            kept.Add(value);
            said.Append(said.Length == 0 ? "" : ", ").Append("{\"type\": \"").Append(TypeNames.Of(value.GetType()));
            said.Append("\", \"object\": {").Append(facts).Append("}, \"rows\": {");
            string separator = "";
            foreach (var row in rows)
            {
                string type = row.type == null ? "null" : $"\"{row.type}\"";
                string text = row.value is string word ? $"\"{word.Replace("\\", "\\\\")}\""
                                                       : Convert.ToString(row.value, CultureInfo.InvariantCulture) ?? "null";
                said.Append(separator).Append($"\"{row.name}\": [{type}, {(text == "" ? "null" : text)}]");
                separator = ", ";
            }
            said.Append("}}");
        }

        static unsafe void SayBuffers()
        {
            var buffers = new Buffers();
            for (int i = 0; i < 5; ++i)
                buffers.five[i] = 10 + i;
            buffers.three[0] = "first";
            buffers.three[2] = "last";
            buffers.points[1] = new Point { X = 3, Y = 4 };
            for (int i = 0; i < 4; ++i)
                buffers.raw.x[i] = 20 + i;
            buffers.raw.c[1] = 'r';
            buffers.raw.tail = 99;
            Say(buffers, "", ("five.e[0]", "System.Int32", 10), ("five.e[4]", "System.Int32", 14),
                ("three.s[0]", "System.String", "first"), ("three.s[1]", "System.String", null),
                ("three.s[2]", "System.String", "last"), ("points.p[1].Y", "System.Int16", 4),
                ("raw.x.FixedElementField[0]", "System.Int32", 20), ("raw.x.FixedElementField[3]", "System.Int32", 23),
                ("raw.c.FixedElementField[1]", "System.Char", "r"), ("raw.tail", "System.Int32", 99));
        }

        static void SayArrays()
        {
            Array numbers = Array.CreateInstance(typeof(sbyte), new[] { 3 }, new[] { 5 });
            numbers.SetValue((sbyte)7, 6);
            Say(numbers, "\"elements\": 3, \"bounds\": \"[5..7]\"", ("[5]", "System.SByte", 0), ("[6]", "System.SByte", 7),
                ("[7]", "System.SByte", 0));
            var cube = new ushort[2, 1, 3];
            cube[1, 0, 2] = 9;
            Say(cube, "\"elements\": 6, \"bounds\": \"[0..1,0..0,0..2]\"", ("[0,0,0]", "System.UInt16", 0),
                ("[1,0,2]", "System.UInt16", 9));
        }

        static void SayGenerics()
        {
            Say(new Generic<string, int> { both = ("x", 1), deep = ("q", (7, "z")), maybe = new("key", 3) }, "",
                ("both.Item1", "System.String", "x"), ("both.Item2", "System.Int32", 1),
                ("deep.Item2", "System.ValueTuple<System.Int32, System.String>", null),
                ("deep.Item2.Item2", "System.String", "z"), ("maybe.value.key", "System.String", "key"),
                ("walk._current.key", "System.String", null));
            Say(new Generic<(string, int), Uri> { both = (("t", 5), null), value = ("v", 6) }, "",
                ("both.Item1", "System.ValueTuple<System.String, System.Int32>", null),
                ("both.Item1.Item1", "System.String", "t"), ("both.Item2", "System.Uri", null),
                ("value.Item1", "System.String", "v"), ("value.Item2", "System.Int32", 6));
        }

        static void SayNumbers()
        {
            Say(new Numbers(), "", ("half", "System.Half", "1.5"), ("least", "System.Int128", Int128.MinValue.ToString()),
                ("most", "System.UInt128", UInt128.MaxValue.ToString()), ("price", "System.Decimal", "12.50"),
                ("quote", "System.Char", "'"), ("backslash", "System.Char", "\\"),
                ("local", "System.DateTime", "2024-02-29T01:02:03 local"), ("utc", "System.DateTime", "1970-01-01T00:00:00Z"),
                ("day", "System.DateOnly", "2024-02-29"), ("time", "System.TimeOnly", "01:02:03"),
                ("span", "System.TimeSpan", "00:00:01.5"),
                ("guid", "System.Guid", "00112233-4455-6677-8899-aabbccddeeff"));
            Say(UInt128.MaxValue, $"\"value\": \"{UInt128.MaxValue}\"");
        }

        static void Main()
        {
            SayBuffers();
            SayArrays();
            SayGenerics();
            SayNumbers();
            string types = Truth.Types();
            Truth.AfterLastCollection();
            GC.Collect();
            Truth.AfterLastCollection();
            Truth.Print($"{types}, \"values\": [{said}]");
            Truth.Wait();
            GC.KeepAlive(kept);
        }
    }
}
