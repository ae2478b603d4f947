// Plugins that are loaded, told to unload, and stay: the host's event still calls them.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Shop;

static class Host
{
    public static event EventHandler Stopping;
    public static void Stop() => Stopping?.Invoke(null, EventArgs.Empty);
}

public sealed class Plugin
{
    readonly List<byte[]> state = new();
    public Plugin()
    {
        for (int i = 0; i < 100; ++i)
            state.Add(new byte[10_000]);
    }
    public void OnStopping(object sender, EventArgs arguments) => state.Clear();
}

sealed class PluginContext : AssemblyLoadContext
{
    PluginContext() : base("plugin", isCollectible: true) { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LoadAndUnload()
    {
        var context = new PluginContext();
        Type type = context.LoadFromAssemblyPath(typeof(Plugin).Assembly.Location).GetType("Shop.Plugin");
        object plugin = Activator.CreateInstance(type);
        Host.Stopping += (EventHandler)Delegate.CreateDelegate(typeof(EventHandler), plugin, "OnStopping");
        context.Unload();
    }
}
