using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Microsoft.Diagnostics.Runtime;

/// Finds no file: what a dump lacks is absent. (ClrMD's own locator asks symbol servers, with libraries that are not here.)
sealed class NoFiles : IFileLocator
{
    public string? FindPEImage(string fileName, int buildTimeStamp, int imageSize, bool checkProperties) => null;

    public string? FindPEImage(string fileName, SymbolProperties archivedUnder, ImmutableArray<byte> buildIdOrUUID,
                               OSPlatform originalPlatform, bool checkProperties) => null;

    public string? FindElfImage(string fileName, SymbolProperties archivedUnder, ImmutableArray<byte> buildId,
                                bool checkProperties) => null;

    public string? FindMachOImage(string fileName, SymbolProperties archivedUnder, ImmutableArray<byte> uuid,
                                  bool checkProperties) => null;
}
