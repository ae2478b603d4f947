// Secrets in every place that a program has for them, texts and numbers that occur nowhere else: what `extract --no-values`
// writes must have none. Each is made of the word given as the first argument, so that no module holds it, and of a number.
// Says all of them.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

struct Card { public long Number; public double Limit; public Guid Id; public decimal Amount; public int Pin, Zip; }

class Keys<T>
{
    public static string Text;
    public static long Number;
    public static Card Card;
}

static class Secrets
{
    public static readonly List<string> Texts = new();
    public static readonly List<long> Numbers = new();
    static string word;
    static readonly Random random = new(4711);

    public static string Text()
    {
        string text = word + Texts.Count.ToString("d3") + "q";
        Texts.Add(text);
        return text;
    }
    public static long Number()
    {
        Numbers.Add(random.NextInt64(1L << 48, long.MaxValue));
        return Numbers[^1];
    }
    public static Card Card()
    {
        var card = new Card { Number = Number(), Limit = BitConverter.Int64BitsToDouble(Number()) };
        Span<long> id = stackalloc long[2] { Number(), Number() };
        card.Id = MemoryMarshal.Read<Guid>(MemoryMarshal.AsBytes(id));
        long number = Number();
        card.Pin = (int)number;
        card.Zip = (int)(number >> 32);
        return card;
    }

    public static string FirstStatic;
    public static long Number1, Number2;
    public static double Double;
    public static Card OwnCard;
    public static readonly long[] Array = new long[3];
    public static char[] Characters;
    public static byte[] Bytes;
    public static object Boxed;
    public static ConcurrentDictionary<string, object> Map = new();
    [ThreadStatic] public static long OfThread;
    [ThreadStatic] public static string TextOfThread;
    [ThreadStatic] public static Card CardOfThread;
    static readonly AsyncLocal<string> flowing = new();
    static readonly ThreadLocal<long> local = new();
    static readonly List<IntPtr> native = new();

    public static void Begin(string given)
    {
        word = given;
        FirstStatic = Text();
        Number1 = Number();
        Number2 = Number();
        Double = BitConverter.Int64BitsToDouble(Number());
        OwnCard = Card();
        for (int i = 0; i < Array.Length; ++i)
            Array[i] = Number();
        Characters = Text().ToCharArray();
        Bytes = Encoding.UTF8.GetBytes(Text());
        Boxed = Number();
        Map[Text()] = Text();
        Map[Text()] = Card();
        Keys<int>.Text = Text();
        Keys<int>.Number = Number();
        Keys<string>.Text = Text();
        Keys<string>.Number = Number();
        Keys<Program>.Card = Card();
        flowing.Value = Text();
        local.Value = Number();
        ThisThread();
        for (int i = 0; i < 8; ++i)
            native.Add(Native(i));
        native.Add(Mapped());
        foreach (string name in new[] { "SECRET_OF_ITS_OWN" })
            Environment.SetEnvironmentVariable(name, Text());
    }

    public static void ThisThread()
    {
        OfThread = Number();
        TextOfThread = Text();
        CardOfThread = Card();
    }

    // Of malloc a mapping of its own, which begins with it; stacks of later threads come to lie beside it.
    static unsafe IntPtr Mapped()
    {
        const int size = 5 << 20;
        byte[] bytes = Encoding.UTF8.GetBytes(Text());
        IntPtr place = Marshal.AllocHGlobal(size);
        new Span<byte>((void*)place, size).Clear();
        Marshal.Copy(bytes, 0, place, bytes.Length);
        return place;
    }

    // As libraries keep passwords: of all sizes, at all places in a word, in both encodings, and numbers.
    static unsafe IntPtr Native(int how)
    {
        string text = Text();
        byte[] bytes = how % 2 == 0 ? Encoding.UTF8.GetBytes(text) : Encoding.Unicode.GetBytes(text);
        IntPtr place = Marshal.AllocHGlobal(32 << how);
        new Span<byte>((void*)place, 32 << how).Clear();
        Marshal.Copy(bytes, 0, place + how, Math.Min(bytes.Length, (32 << how) - how - 1));
        if (bytes.Length > (32 << how) - how - 1)
            Texts.RemoveAt(Texts.Count - 1);
        IntPtr numbers = Marshal.AllocHGlobal(64);
        for (int i = 0; i < 8; ++i)
            Marshal.WriteInt64(numbers, 8 * i, Number());
        native.Add(numbers);
        return place;
    }
}

class Program
{
    static readonly ManualResetEvent never = new(false);
    static volatile bool isOver;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Wait(CountdownEvent started)
    {
        string text = Secrets.Text();
        byte* bytes = stackalloc byte[64];
        Encoding.UTF8.GetBytes(text, new Span<byte>(bytes, 64));
        char* wide = stackalloc char[32];
        Secrets.Text().AsSpan().CopyTo(new Span<char>(wide, 32));
        long first = Secrets.Number(), second = Secrets.Number();
        Card card = Secrets.Card();
        Secrets.ThisThread();
        started.Signal();
        never.WaitOne();
        Console.WriteLine($"{bytes[0]}{wide[0]}{first}{second}{card.Number}{card.Limit}{card.Id}{card.Pin}{card.Zip}");
    }

    // In registers, at the point where the dump is taken.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Spin(long a, long b, long c, long d, CountdownEvent started)
    {
        started.Signal();
        while (!isOver)
            (a, b, c, d) = (b, c, d, a);
        return a ^ b ^ c ^ d;
    }

    static void Main(string[] arguments)
    {
        Secrets.Begin(arguments[0]);
        var started = new CountdownEvent(3);
        for (int i = 0; i < 2; ++i)
            lock (Secrets.Texts)
            {
                int before = started.CurrentCount;
                new Thread(() => Wait(started)) { IsBackground = true }.Start();
                while (started.CurrentCount == before)
                    Thread.Sleep(1);
            }
        long[] spun = { Secrets.Number(), Secrets.Number(), Secrets.Number(), Secrets.Number() };
        new Thread(() => Spin(spun[0], spun[1], spun[2], spun[3], started)) { IsBackground = true }.Start();
        started.Wait();
        string said = "\"said\": {\"texts\": [" + string.Join(", ", Secrets.Texts.Select(text => $"\"{text}\"")) +
                      "], \"numbers\": [" + string.Join(", ", Secrets.Numbers) + "]}";
        string types = Truth.Types();
        Truth.AfterLastCollection();
        Truth.Print(types + ", " + said);
        Truth.Wait();
        isOver = true;
    }
}
