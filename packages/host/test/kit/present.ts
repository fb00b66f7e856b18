/** For tests and benchmarks: a value that must be there. */

/** The value, or an error where a wrong assumption would otherwise show up later as something else. */
export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('A value that must be there is absent.');
  return value;
}
