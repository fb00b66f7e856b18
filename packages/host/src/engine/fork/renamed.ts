/** Replaces ids of child runs in a state: a branch has forks of the children that were open at the cut. */

/** Replaces every text and key that is one of these ids. Returns the same value if there is none. */
export function renamed<Value>(value: Value, ids: ReadonlyMap<string, string>): Value;
export function renamed(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries<unknown>({ ...value }).map(([key, item]) => [ids.get(key) ?? key, renamed(item, ids)]),
  );
}
