/** "Did you mean": the known name closest to an unknown one. */

/** Longer words, and names after these many, are not compared: a comparison costs the product of the lengths. */
const MAX_LENGTH = 64;
const MAX_NAMES = 1_000;

/** The nearest name within `atLeast` edits or a third of the word's length; null when none is close enough. */
export function nearest(word: string, names: readonly string[], atLeast = 2): string | null {
  let best: string | null = null;
  let least = Math.max(atLeast, Math.floor(word.length / 3)) + 1;
  if (word.length > MAX_LENGTH) return null;
  for (const name of names.slice(0, MAX_NAMES)) {
    if (Math.abs(name.length - word.length) >= least) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

/** The number of insertions, deletions and replacements between two words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
