// A native library of the program, which ends the process if it is given a negative number.
void abort(void);

int taken;

void take(int number) {
  if (number < 0)
    abort();
  taken += number;
}
