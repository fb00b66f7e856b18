/** What a compiler of user text says is wrong with it: the first line, since a picture of the source may follow. */
export function firstLineOf(error: unknown): string {
  const text = summaryOf(error) ?? (error instanceof Error ? error.message : String(error));
  return text.split('\n', 1)[0] ?? '';
}

/** CEL errors carry their message without the picture. */
const summaryOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'summary' in error && typeof error.summary === 'string'
    ? error.summary
    : undefined;
