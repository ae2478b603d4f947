// A small ASP.NET application under load that it makes itself: requests over the loopback interface, each of which parses
// and writes JSON. It stops the load, says its truth and waits; asked by a line, it takes up the load again.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Json;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Web
{
    record Item(string Article, int Quantity);
    record Basket(int Number, Item[] Items);
    // What is kept of the first baskets: of these types nothing is made later.
    record Line(string Article, int Quantity);
    record Order(int Number, Line[] Lines);

    static class Program
    {
        const int Clients = 4, Requests = 200;
        static readonly List<Order> orders = new();

        static async Task Main()
        {
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Logging.ClearProviders();
            WebApplication app = builder.Build();
            app.MapPost("/orders", (Basket basket) =>
            {
                lock (orders)
                    if (orders.Count < Clients * Requests)
                        orders.Add(new Order(basket.Number, basket.Items.Select(i => new Line(i.Article, i.Quantity)).ToArray()));
                return Results.Json(new { basket.Number, Total = basket.Items.Sum(item => item.Quantity) });
            });
            await app.StartAsync();
            using var http = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };

            await Task.WhenAll(Enumerable.Range(0, Clients).Select(client => Send(http, client * Requests, Requests)));
            Truth.Expect(typeof(Order), orders.Count);
            Truth.Expect(typeof(Line[]), orders.Count);
            Truth.Expect(typeof(Line), orders.Sum(order => order.Lines.Length));
            GC.Collect();
            GC.WaitForPendingFinalizers();
            string types = Truth.Types();
            Truth.AfterLastCollection();
            GC.Collect();
            Truth.Print(types);
            while (Truth.Wait())
            {
                using var stop = new CancellationTokenSource();
                Task load = Task.WhenAll(Enumerable.Range(0, Clients).Select(client => Send(http, client, int.MaxValue, stop.Token)));
                Console.WriteLine("LOAD");
                Truth.Wait();
                stop.Cancel();
                await load;
                Console.WriteLine("QUIET");
            }
            await app.StopAsync();
        }

        static async Task Send(HttpClient http, int first, int count, CancellationToken stop = default)
        {
            for (int i = 0; i < count && !stop.IsCancellationRequested; i++)
            {
                Item[] items = Enumerable.Range(0, i % 5 + 1).Select(n => new Item("article " + n, n)).ToArray();
                HttpResponseMessage answer = await http.PostAsJsonAsync("/orders", new Basket(first + i, items));
                if (answer.StatusCode != HttpStatusCode.OK)
                    throw new InvalidOperationException(answer.ToString());
            }
        }
    }
}
