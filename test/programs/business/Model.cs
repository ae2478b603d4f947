// What the business is about. References go forth and back, as an object-relational mapper leaves them.
using System;
using System.Collections.Generic;

namespace Business
{
    enum Status { Open, Paid, Shipped, Returned }

    sealed class Product
    {
        public string Number, Name, Unit;
        public decimal Price;
        public Dictionary<string, string> Properties;
        public event EventHandler PriceChanged;

        public void Reprice(decimal price)
        {
            Price = price;
            PriceChanged?.Invoke(this, EventArgs.Empty);
        }
    }

    class Address
    {
        public string Street, City, Country;
        public Customer Owner;
    }

    sealed class Customer
    {
        public long Id;
        public string Name, Mail, Segment;
        public Address Home, Delivery;
        public List<Order> Orders = new();
        public Dictionary<string, string> Tags;
        public Customer ReferredBy;
        public object Score;
        public byte[] Fingerprint;
        public object Document;
        public Emitted.Record Extension;
    }

    abstract class Payment
    {
        public Order Order;
        public decimal Amount;
        public string Currency;
    }

    sealed class Card : Payment { public byte[] Token; }
    sealed class Invoice : Payment { public string Number; public DateTime Due; }
    sealed class Transfer : Payment { public string Account; public object Reference; }

    sealed class Line
    {
        public Order Order;
        public Product Product;
        public int Quantity;
        public decimal Price;
        public string Note;
    }

    sealed class Shipment
    {
        public Order Order;
        public string Carrier;
        public LinkedList<string> Stations;
    }

    sealed class Order
    {
        public long Id;
        public string Number;
        public Customer Customer;
        public Status Status;
        public DateTime Placed;
        public List<Line> Lines;
        public Payment Payment;
        public Shipment Shipment;
        public Dictionary<string, object> Attributes;
        public Lazy<string> Summary;
    }
}
