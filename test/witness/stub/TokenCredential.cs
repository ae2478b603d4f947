// What ClrMD's own types are made of. None of it is ever called.
using System;
using System.Threading;
using System.Threading.Tasks;

namespace Azure.Core
{
    public readonly struct AccessToken(string token, DateTimeOffset expires)
    {
        public string Token => token;
        public DateTimeOffset ExpiresOn => expires;
    }

    public readonly struct TokenRequestContext { }

    public abstract class TokenCredential
    {
        public abstract ValueTask<AccessToken> GetTokenAsync(TokenRequestContext context, CancellationToken cancelled);
        public abstract AccessToken GetToken(TokenRequestContext context, CancellationToken cancelled);
    }
}
