// In the one-file program. libevent can look up names of hosts, services and protocols, and so would need the C
// library's shared parts at run time. This program listens on a number, and asks nobody: these say so, and keep those
// parts out.
#include <netdb.h>

extern "C" {

int getaddrinfo(const char *, const char *, const addrinfo *, addrinfo **) { return EAI_NONAME; }
void freeaddrinfo(addrinfo *) {}
servent *getservbyname(const char *, const char *) { return nullptr; }
protoent *getprotobynumber(int) { return nullptr; }

void *dlopen(const char *, int) { return nullptr; }
void *dlsym(void *, const char *) { return nullptr; }
int dlclose(void *) { return 0; }
char *dlerror() {
  static char text[] = "this program loads no libraries";
  return text;
}

} // extern "C"
