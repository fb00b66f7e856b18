/** Non-null assertion for tests and benchmarks. */

/** Returns the value, or throws at once, before a wrong assumption shows up as another failure. */
export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('A value that must be there is absent.');
  return value;
}
