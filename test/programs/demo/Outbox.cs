// Mail that waits: in a channel, in asynchronous methods that have not ended, and in timers.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Shop.Mail
{
    class Letter
    {
        public Customer To;
        public string Subject;
        public string Body;
    }

    class Reminder
    {
        public Customer Customer;
        public Timer Timer;
    }

    static class Outbox
    {
        const int Waiting = 400, InFlight = 150, Reminders = 100;

        static readonly Channel<Letter> queue = Channel.CreateUnbounded<Letter>();
        static readonly List<Task<bool>> sending = new();
        static readonly List<Reminder> reminders = new();
        static readonly TaskCompletionSource connected = new(); // the mail server does not answer
        static readonly CancellationTokenSource shutdown = new();

        public static void Start()
        {
            var dice = new Dice(7);
            for (int i = 0; i < Waiting; i++)
                queue.Writer.TryWrite(NewLetter(dice));
            for (int i = 0; i < InFlight; i++)
                sending.Add(SendAsync(NewLetter(dice), shutdown.Token));
            for (int i = 0; i < Reminders; i++)
            {
                var reminder = new Reminder { Customer = Customers.All[i] };
                reminder.Timer = new Timer(Remind, reminder, TimeSpan.FromHours(24 + i), Timeout.InfiniteTimeSpan);
                reminders.Add(reminder);
            }
        }

        public static void Expect()
        {
            Truth.Expect(typeof(Letter), Waiting + InFlight);
            Truth.Expect(typeof(Reminder), Reminders);
        }

        static void Remind(object state) => queue.Writer.TryWrite(new Letter { To = ((Reminder)state).Customer });

        static async Task<bool> SendAsync(Letter letter, CancellationToken cancel)
        {
            for (int attempt = 0; attempt < 3; attempt++)
                if (await ConnectAsync(attempt))
                    return letter.Body.Length > 0 && !cancel.IsCancellationRequested;
            return false;
        }

        static async Task<bool> ConnectAsync(int attempt)
        {
            await connected.Task;
            return attempt == 0;
        }

        static Letter NewLetter(Dice dice)
        {
            Customer customer = Customers.All[dice.Throw(Customers.All.Count)];
            return new Letter { To = customer, Subject = "Your order", Body = $"Dear {customer.Name}, thank you for your order." };
        }
    }
}
