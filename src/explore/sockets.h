// The sockets of HttpServer: one that listens on 127.0.0.1, and a pair through which any thread wakes the serving one.
// These functions hide the differences between hosts; none of them waits.
#pragma once
#include "base/integers.h"

#include <cstdint>
#include <vector>

namespace dnheap::explore {

#ifdef _WIN32
using Socket = std::intptr_t;
#else
using Socket = int;
#endif

struct Listening {
  Socket socket;
  u16 port;
};

// Listens on that port, 0: any free one. Throws Error if that is not possible.
Listening listen_here(u16 port);
void close_socket(Socket socket);
// True if the other end will send nothing more and everything it sent has been read. It may still be reading.
bool has_hung_up(Socket socket);

// Raises this process's limit of open files as far as the system allows. Throws Error, which says how many are needed,
// if there are still too few for a server, its target and a browser's connections.
void require_descriptors();

bool has_room_for_a_socket(); // true if this process may open one more
struct Connection {
  Socket socket;
  u16 from; // the other end's port, which is unique among open connections
};
// Returns this process's connections to that port of 127.0.0.1. Asks the system about each descriptor that may be open,
// so call it only when no more can be opened. Returns none if the system has no limit of descriptors.
std::vector<Connection> connections_to(u16 port);
void end_reading(Socket socket); // as if the other end had sent its last byte

class SocketPair {
public:
  SocketPair(); // throws Error if there are none
  ~SocketPair();
  SocketPair(const SocketPair &) = delete;
  SocketPair &operator=(const SocketPair &) = delete;

  Socket receiver() const { return ends_[0]; }
  void send() const;     // one byte, from any thread; if there is no room, the receiver has bytes to read already
  void take_all() const; // reads all bytes of the receiver

private:
  Socket ends_[2] = {-1, -1};
};

} // namespace dnheap::explore
