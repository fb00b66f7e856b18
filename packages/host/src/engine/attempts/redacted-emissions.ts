/** Takes secrets out of what a call emits, except out of content that its writer has redacted already. */
import type { Emission, Redactor } from '../ports.ts';

/**
 * The content of an artifact is redacted before its size and its hash are taken, as that in blobs is. A second pass would
 * turn the references of sensitive values into masks, and the size would no longer be that of the content.
 */
export function redactedEmissions(rows: readonly Emission[], redactor: Redactor | null): readonly Emission[] {
  const clean = redactor === null ? rows : redactor.value(rows);
  return clean === rows ? rows : clean.map((row, i) => withContent(row, rows[i]));
}

function withContent(clean: Emission, given: Emission | undefined): Emission {
  if (clean.type === 'cairn.artifact.chunk' && given?.type === clean.type) {
    const { data } = given.payload;
    return data === undefined ? clean : { ...clean, payload: { ...clean.payload, data } };
  }
  if (clean.type === 'cairn.artifact.rows' && given?.type === clean.type) {
    const { rows } = given.payload;
    return rows === undefined ? clean : { ...clean, payload: { ...clean.payload, rows } };
  }
  return clean;
}
