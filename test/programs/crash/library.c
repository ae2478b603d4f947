// A native library of the program: take() ends the process if it is given a negative number, descend() fills its stack,
// fire() calls what keep() was given.
void abort(void);

int taken;

void take(int number) {
  if (number < 0)
    abort();
  taken += number;
}

int descend(int depth) {
  volatile char room[4096];
  room[depth & 4095] = 1;
  return descend(depth + 1) + room[0];
}

static void (*kept)(int);

void keep(void (*callback)(int)) { kept = callback; }

void fire(int number) {
  kept(number);
  taken += number;
}
