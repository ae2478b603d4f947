System.Console.WriteLine("hi " + System.Environment.Version);
