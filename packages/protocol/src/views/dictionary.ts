/** Plain objects used as maps: names come from outside, so `constructor` and `__proto__` must be ordinary keys. */

/** The value under a key of the object's own; undefined when there is none. */
export const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Set a key of the object's own. Assignment to `__proto__` would change the prototype instead. */
export function put<Value>(record: Record<string, Value>, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    record[key] = value;
  }
}
