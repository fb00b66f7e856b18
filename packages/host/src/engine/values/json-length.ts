/** Whether a value is too long as JSON, at the price of what fits. */

/**
 * True only if the value has more than `limit` characters as JSON. Escapes and the digits of numbers are not counted, so a
 * value that is a little longer may pass. A text that occurs often costs nothing to count.
 */
export const exceedsJson = (value: unknown, limit: number): boolean => roomAfter(value, limit) < 0;

/** Stops soon after it is below zero. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 1;
  // As many commas as items, less one, and two brackets.
  let left = room - 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i += 1) left = roomAfter(value[i], left - 1);
    return left;
  }
  for (const key in value) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    // Quotes, colon and comma.
    left = roomAfter(member, left - key.length - 4);
    if (left < 0) return left;
  }
  return left;
}
