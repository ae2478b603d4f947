// For the one-file program: replacements for library functions that this program never uses. Without them, the program
// would need parts of the C library as shared libraries at run time, and be a quarter of a megabyte larger. libevent
// can look up names of hosts, services and protocols, but this program listens on a numeric address and looks nothing
// up. libstdc++ names the exception that ends a program, but this program catches all of them.
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

// Only called for the numeric address of a client.
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
