// The second leak: views subscribe to a feed that lives for ever, and are closed without ending the subscription.
using System;

namespace Shop.Events
{
    class PriceChanged : EventArgs
    {
        public Product Product;
    }

    class ProductView
    {
        public readonly Product Product;
        public char[] Html = new char[400];
        bool closed;

        public ProductView(Product product, PriceFeed feed)
        {
            Product = product;
            feed.Changed += OnPriceChanged;
        }

        public void Close() => closed = true; // and Changed -= OnPriceChanged is missing

        void OnPriceChanged(object sender, PriceChanged change)
        {
            if (!closed && change.Product == Product)
                Array.Clear(Html);
        }
    }

    class PriceFeed
    {
        public static readonly PriceFeed Shared = new();
        public event EventHandler<PriceChanged> Changed;

        public void OpenViews(int count)
        {
            var dice = new Dice(6);
            for (int i = 0; i < count; i++)
                new ProductView(Catalog.Any(dice), this).Close();
        }

        public void Expect()
        {
            int subscribers = Changed.GetInvocationList().Length;
            Truth.Expect(typeof(ProductView), subscribers);
            Truth.Expect(typeof(PriceFeed), 1);
            // GetInvocationList makes no delegates; += makes a new one for the list each time, and only the last one lives.
            Truth.Expect(typeof(EventHandler<PriceChanged>), subscribers + 1);
        }
    }
}
