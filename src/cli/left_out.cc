// In the one-file program. What libraries can do and this program never asks for: these stand in for it, and so keep
// the C library's shared parts out, which would be needed at run time, and a quarter of a megabyte. libevent can look
// up names of hosts, services and protocols, but this program listens on a number, and asks nobody. libstdc++ tells of
// what exception a program ends that catches all of them.
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <net/if.h>
#include <netdb.h>

extern "C" {

int getaddrinfo(const char *, const char *, const addrinfo *, addrinfo **) { return EAI_NONAME; }
void freeaddrinfo(addrinfo *) {}
servent *getservbyname(const char *, const char *) { return nullptr; }
protoent *getprotobynumber(int) { return nullptr; }
unsigned if_nametoindex(const char *) noexcept { return 0; }

// Asked for numbers, of who is connected.
int getnameinfo(const sockaddr *address, socklen_t size, char *host, socklen_t host_size, char *port,
                socklen_t port_size, int) {
  if (address->sa_family != AF_INET || size < sizeof(sockaddr_in))
    return EAI_FAMILY;
  const auto *v4 = reinterpret_cast<const sockaddr_in *>(address);
  if (host && !::inet_ntop(AF_INET, &v4->sin_addr, host, host_size))
    return EAI_OVERFLOW;
  if (port && std::snprintf(port, port_size, "%u", ntohs(v4->sin_port)) >= static_cast<int>(port_size))
    return EAI_OVERFLOW;
  return 0;
}

void *dlopen(const char *, int) noexcept { return nullptr; }
void *dlsym(void *, const char *) noexcept { return nullptr; }
int dlclose(void *) noexcept { return 0; }
char *dlerror() noexcept {
  static char text[] = "this program loads no libraries";
  return text;
}

} // extern "C"

void __gnu_cxx::__verbose_terminate_handler() {
  std::fputs("dnheap: internal error, please report it: an exception that nobody caught\n", stderr);
  std::abort();
}
