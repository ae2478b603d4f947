// A client for each request, each with a connection of its own. The server at the other end has no objects.
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Shop;

sealed unsafe class PaymentCall
{
    public static readonly List<PaymentCall> Done = new(1024);
    static readonly Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    static string address;

    readonly HttpClient client = new();
    readonly byte[] receipt;

    public PaymentCall() => receipt = client.GetByteArrayAsync(address).Result;

    [DllImport("libc")] static extern int accept(int socket, void* address, void* length);
    [DllImport("libc")] static extern nint recv(int socket, byte* to, nint length, int flags);
    [DllImport("libc")] static extern nint send(int socket, byte* from, nint length, int flags);

    public static void Begin()
    {
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        address = $"http://{listener.LocalEndPoint}/";
        new Thread(Serve) { IsBackground = true }.Start();
        using var first = new HttpClient(); // what all of them share
        first.GetByteArrayAsync(address).Wait();
    }

    static void Serve()
    {
        const int length = 60_000;
        byte[] answer = Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n" + new string('.', length));
        byte* request = stackalloc byte[4096];
        fixed (byte* text = answer)
            for (;;)
            {
                int connection = accept((int)listener.Handle, null, null);
                recv(connection, request, 4096, 0);
                for (nint sent = 0, more; sent < answer.Length; sent += more)
                    if ((more = send(connection, text + sent, answer.Length - sent, 0)) <= 0)
                        break;
            }
    }
}
