/** The first line of a compile error in user text. A source excerpt may follow that line. */
export function firstLineOf(error: unknown): string {
  const text = summaryOf(error) ?? (error instanceof Error ? error.message : String(error));
  return text.split('\n', 1)[0] ?? '';
}

/** CEL errors carry their message without the source excerpt. */
const summaryOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'summary' in error && typeof error.summary === 'string'
    ? error.summary
    : undefined;
