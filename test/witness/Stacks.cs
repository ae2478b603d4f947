// What ClrMD says of threads: frames from the leaf on, and what their slots hold. One line of JSON for each thread, written
// before the next one is asked for, and ahead of it a line {"begin": OS id}: the runtime's DAC crashes on some stacks, and then
// the file says which (test/real/witness.py asks again, without that thread).
//
// Roots are those of frames; ClrMD leaves out null, and what is in no heap.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;

static class Stacks
{
    const int Most = 200_000; // frames, or roots, of a thread: it never ends on some stacks

    public static void Write(ClrRuntime runtime, string path, IReadOnlySet<uint> skipped)
    {
        using FileStream file = File.Create(path);
        foreach (ClrThread thread in runtime.Threads.Where(thread => thread.IsAlive && !skipped.Contains(thread.OSThreadId)))
        {
            Line(file, json => json.WriteNumber("begin", thread.OSThreadId));
            Line(file, json => WriteThread(json, thread));
        }
        Line(file, json => json.WriteNumber("threads", runtime.Threads.Length));
    }

    static void Line(Stream file, Action<Utf8JsonWriter> write)
    {
        using (var json = new Utf8JsonWriter(file))
        {
            json.WriteStartObject();
            write(json);
            json.WriteEndObject();
        }
        file.Write("\n"u8);
        file.Flush();
    }

    static void WriteThread(Utf8JsonWriter json, ClrThread thread)
    {
        json.WriteNumber("os_id", thread.OSThreadId);
        json.WriteNumber("managed_id", thread.ManagedThreadId);
        json.WriteString("gc_mode", thread.GCMode.ToString());
        json.WriteString("exception", thread.CurrentException is ClrException exception ? Hex(exception.Address) : null);
        json.WriteString("exception_type", thread.CurrentException?.Type.Name);
        WriteEach(json, "frames", thread.EnumerateStackTrace(false, Most).Take(Most), WriteFrame);
        WriteEach(json, "roots", thread.EnumerateStackRoots().Take(Most), WriteRoot);
    }

    static void WriteEach<T>(Utf8JsonWriter json, string name, IEnumerable<T> rows, Action<Utf8JsonWriter, T> write)
    {
        string? error = null;
        json.WriteStartArray(name);
        try
        {
            foreach (T row in rows)
            {
                json.WriteStartObject();
                write(json, row);
                json.WriteEndObject();
            }
        }
        catch (Exception thrown)
        {
            error = thrown.GetType().Name + ": " + thrown.Message;
        }
        json.WriteEndArray();
        if (error != null)
            json.WriteString(name + "_error", error);
    }

    static void WriteFrame(Utf8JsonWriter json, ClrStackFrame frame)
    {
        json.WriteString("ip", Hex(frame.InstructionPointer));
        json.WriteString("sp", Hex(frame.StackPointer));
        json.WriteString("kind", frame.Kind.ToString());
        json.WriteString("name", frame.FrameName);
        if (frame.Method is not ClrMethod method)
            return;
        json.WriteString("method", method.Signature);
        json.WriteString("method_desc", Hex(method.MethodDesc));
        json.WriteNumber("token", method.MetadataToken);
        json.WriteString("module", Path.GetFileName(method.Type?.Module?.Name));
        json.WriteString("compiled", method.CompilationType.ToString());
    }

    static void WriteRoot(Utf8JsonWriter json, ClrStackRoot root)
    {
        json.WriteString("address", Hex(root.Address));
        json.WriteString("object", Hex(root.Object.Address));
        json.WriteString("type", root.Object.Type?.Name);
        json.WriteBoolean("interior", root.IsInterior);
        json.WriteBoolean("pinned", root.IsPinned);
        json.WriteString("register", root.RegisterName);
        json.WriteNumber("offset", root.RegisterOffset);
        if (root.StackFrame is not ClrStackFrame frame)
            return;
        json.WriteString("ip", Hex(frame.InstructionPointer));
        json.WriteString("sp", Hex(frame.StackPointer));
        json.WriteString("method", frame.Method?.Signature);
        json.WriteString("frame", frame.FrameName);
    }

    static string Hex(ulong value) => $"0x{value:x}";
}
