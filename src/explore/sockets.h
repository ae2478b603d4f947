// The sockets of HttpServer: one that listens on 127.0.0.1, and a pair by which any thread wakes the one that serves.
// Behind these functions hosts differ; nothing here waits.
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

// On that port, 0: one that is free. Throws Error when it cannot be had.
Listening listen_here(u16 port);
void close_socket(Socket socket);
// Has the other end said its last: all that it sent was taken, and more will not come? It may still read.
bool has_hung_up(Socket socket);

// Throws Error, which says how many are needed, when the system lets this process open too few files for a server, what
// it serves and a browser's connections. Allows as many as it may before.
void require_descriptors();

bool has_room_for_a_socket(); // may this process open one more?
struct Connection {
  Socket socket;
  u16 from; // the other end's port: no two that are open have the same
};
// This process's connections to that port of 127.0.0.1. Asks of each file that may be open: for when there are no more.
// None where the system knows no such limit.
std::vector<Connection> connections_to(u16 port);
void end_reading(Socket socket); // as if the other end had said its last

class SocketPair {
public:
  SocketPair(); // throws Error when there are none to be had
  ~SocketPair();
  SocketPair(const SocketPair &) = delete;
  SocketPair &operator=(const SocketPair &) = delete;

  Socket receiver() const { return ends_[0]; }
  void send() const;     // one byte, from any thread; when there is no room, the receiver has some to read already
  void take_all() const; // of the receiver

private:
  Socket ends_[2] = {-1, -1};
};

} // namespace dnheap::explore
