// What is tested: a shop with two ways to leak.
namespace Shop;

public sealed class Session(string user)
{
    public string User { get; } = user;
    public byte[] LastPage { get; } = new byte[2000];
    public void OnPricesChanged(object? sender, EventArgs change) => LastPage[0]++;
}

public static class Prices
{
    public static event EventHandler? Changed;
    public static void Change() => Changed?.Invoke(null, EventArgs.Empty);
}

public static class Sessions
{
    private static readonly Dictionary<string, Session> s_byUser = [];

    public static void LogIn(string user)
    {
        var session = new Session(user);
        Prices.Changed += session.OnPricesChanged;
        s_byUser[user] = session;
    }

    public static void LogOut(string user)
    {
        if (s_byUser.Remove(user, out Session? session))
            Prices.Changed -= session.OnPricesChanged;
    }

    /// <summary>A leak: whoever is told of prices is held by that.</summary>
    public static void ForgetfulLogOut(string user) => s_byUser.Remove(user);
}

public static class Orders
{
    private static readonly List<byte[]> s_all = [];
    public static void Place(int bytes) => s_all.Add(new byte[bytes]);
    public static void Clear() => s_all.Clear();
}
