// "holder", "waiter": ids of threads; "inflated": how many monitors were inflated by a thread that waited for them, of which "held" are held;
// what is special has a label among the truth's "addresses": "hashed" (held twice, has a hash code, too), "hashed and waited for", "thin" (held
// three times), "pulsed" (nobody has it, "waiter" waits for a pulse).
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Inflated_ { }

static class Inflated
{
    const int Count = 1000, Held = 10;

    // Whoever waits in Monitor.Wait, be it for no time, has an object's lock inflated.
    static void Inflate(object it)
    {
        lock (it)
            Monitor.Wait(it, 1);
    }

    public static string Run()
    {
        var all = new object[Count];
        for (int i = 0; i < Count; i++)
            Inflate(all[i] = Truth.Count(new Inflated_()));
        object hashed = Truth.Label("hashed", new Kept()), both = Truth.Label("hashed and waited for", new Kept());
        object thin = Truth.Label("thin", new Kept()), pulsed = Truth.Label("pulsed", new Kept());
        Pair holder = Program.Start("Holder", ready =>
        {
            for (int i = 0; i < Held; i++)
                Monitor.Enter(all[i]);
            Monitor.Enter(hashed);
            Monitor.Enter(hashed);
            GC.KeepAlive(RuntimeHelpers.GetHashCode(hashed)); // moves the thin lock into a sync block
            Monitor.Enter(both);
            GC.KeepAlive(RuntimeHelpers.GetHashCode(both));
            for (int i = 0; i < 3; i++)
                Monitor.Enter(thin);
            ready();
            Thread.Sleep(Timeout.Infinite);
        });
        Pair waiter = Program.Start("Waiter", ready =>
        {
            ready();
            lock (both)
                GC.KeepAlive(both);
        });
        Pair pulse = Program.Start("Pulse", ready =>
        {
            lock (pulsed)
            {
                ready();
                Monitor.Wait(pulsed);
            }
        });
        Program.Settle(holder, waiter, pulse);
        GC.KeepAlive(all);
        return $"\"holder\": {holder.Json}, \"waiter\": {waiter.Json}, \"pulse\": {pulse.Json}, \"inflated\": {Count}, \"held\": {Held}";
    }
}
