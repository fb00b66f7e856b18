export const from = new Date(0).toISOString();
export const parsed = Date.parse('2026-01-01T00:00:00Z') + Date.UTC(2026, 0);
export const isDate = (value: unknown): boolean => value instanceof Date;
export const rounded = Math.floor(1.5);
export const later = (clock: { now(): number; setTimeout(ms: number): void }): number => {
  clock.setTimeout(5);
  return clock.now();
};
export const given = (fetch: (url: string) => string, { process }: { process: string }): string => fetch(process);
export const labelled = { fetch: 1, process: 2, Date: 3, setTimeout(): number { return 4; } };
export const read = labelled.fetch + labelled.process;
export type Fetch = typeof fetch;
export type At = { readonly at: Date; readonly timer: ReturnType<typeof setTimeout> };
export function shadow(): number {
  const performance = { now: () => 1 };
  try {
    return performance.now();
  } catch (process) {
    throw process;
  }
}
// Date.now() in a comment, and in a text:
export const text = `Date.now() and ${'setTimeout(x)'}`;
export const controller = new AbortController();
