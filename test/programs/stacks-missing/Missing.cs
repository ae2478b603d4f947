public static class Missing
{
    public static int Number(string text, int number) => text.Length + number;
}
