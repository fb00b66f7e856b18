/** The outputs of a host through which a secret could leak, and a byte search over them. */
import { spellings } from '../../packages/host/src/redaction/encodings.ts';
import { ACCESS_KEY, SECRET } from './planted-host.ts';

const needles = [...spellings(SECRET), ACCESS_KEY].map((text) => Buffer.from(text));
/** A fragment of each encoded form, independent of the forms a redactor knows. */
const pieces = ['sk-Canary', 'c2stQ2FuYXJ5', 'NrLUNhbmFyeS', 'zay1DYW5hcnk'].map((text) => Buffer.from(text));

/** Returns the forms of the secret found in a text or in bytes. `others` are searched for verbatim. */
export function found(haystack: Buffer | string, others: readonly string[] = []): readonly string[] {
  const bytes = typeof haystack === 'string' ? Buffer.from(haystack) : haystack;
  const all = [...needles, ...pieces, ...others.map((text) => Buffer.from(text))];
  return all.filter((needle) => bytes.includes(needle)).map(String);
}

/** Requests whose responses describe a run. */
export const waysOut = (runId: string): readonly string[] => [
  '/v1/runs',
  `/v1/runs/${runId}`,
  ...['updates', 'values', 'messages', 'debug'].map((mode) => `/v1/runs/${runId}/events?streamMode=${mode}`),
  `/v1/runs/${runId}/events/poll?timeout=0`,
  `/v1/runs/${runId}/debug-bundle`,
  `/v1/runs/${runId}?atSeq=0`,
  `/v1/runs/${runId}:diff?against=${runId}`,
  `/v1/runs/${runId}/interrupts`,
  '/v1/host/cairn/interrupts',
  '/v1/host/cairn/inbox',
  '/metrics',
];
