// Documents in memory: JSON as System.Text.Json keeps it once it was looked into, and XML as LINQ does.
using System.Text.Json.Nodes;
using System.Xml.Linq;

namespace Business
{
    static class Documents
    {
        public static JsonObject Json(Customer customer, uint random)
        {
            var items = new JsonArray();
            for (int i = 0; i < random % 4; i++)
                items.Add(new JsonObject { ["sku"] = "S-" + (random + i), ["count"] = i, ["gift"] = i == 2 });
            return new JsonObject
            {
                ["id"] = customer.Id, ["name"] = customer.Name, ["items"] = items,
                ["address"] = new JsonObject { ["street"] = customer.Home.Street, ["city"] = customer.Home.City },
            };
        }

        public static XElement Xml(Customer customer, uint random)
        {
            var root = new XElement("customer", new XAttribute("id", customer.Id), new XElement("name", customer.Name));
            for (int i = 0; i < random % 5; i++)
                root.Add(new XElement("visit", new XAttribute("page", "/p/" + i), "seen " + (random >> 20)));
            return root;
        }
    }
}
