// Writes a type's name the way the diagnostics tools do: System.Collections.Generic.Dictionary<System.String, Shop.Order>+Entry[].
using System;
using System.Collections.Generic;
using System.Text;

static class TypeNames
{
    public static string Of(Type type)
    {
        if (type.IsArray)
            return Of(type.GetElementType()) + Brackets(type);
        if (type.IsPointer)
            return Of(type.GetElementType()) + "*";
        if (type.IsFunctionPointer)
            return Of(type.GetFunctionPointerReturnType()) + "(" +
                string.Join(", ", Array.ConvertAll(type.GetFunctionPointerParameterTypes(), Of)) + ")";

        var chain = new Stack<Type>();
        for (Type part = type; part != null; part = part.DeclaringType)
            chain.Push(part);

        // A nested type's arguments begin with those of the types it is nested in.
        Type[] arguments = type.GetGenericArguments();
        var name = new StringBuilder();
        if (!string.IsNullOrEmpty(chain.Peek().Namespace))
            name.Append(chain.Peek().Namespace).Append('.');
        int used = 0;
        bool first = true;
        foreach (Type part in chain)
        {
            if (!first)
                name.Append('+');
            first = false;
            int tick = part.Name.LastIndexOf('`');
            name.Append(tick < 0 ? part.Name : part.Name.Substring(0, tick));
            int arity = part.GetGenericArguments().Length;
            if (arity > used)
                name.Append('<').AppendJoin(", ", Array.ConvertAll(arguments[used..arity], Of)).Append('>');
            used = arity;
        }
        return name.ToString();
    }

    static string Brackets(Type array)
    {
        if (array.IsSZArray)
            return "[]";
        return array.GetArrayRank() == 1 ? "[*]" : "[" + new string(',', array.GetArrayRank() - 1) + "]";
    }
}
