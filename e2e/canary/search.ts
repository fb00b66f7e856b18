/** Where a secret could show once it is in: the ways out of a host, and a byte search over what comes by them. */
import { spellings } from '../../packages/host/src/redaction/encodings.ts';
import { ACCESS_KEY, SECRET } from './planted-host.ts';

const needles = [...spellings(SECRET), ACCESS_KEY].map((text) => Buffer.from(text));
/** Part of each way in which it was written, whatever a redactor knows. */
const pieces = ['sk-Canary', 'c2stQ2FuYXJ5', 'NrLUNhbmFyeS', 'zay1DYW5hcnk'].map((text) => Buffer.from(text));

/** What of the secret is in a text or in bytes; `others` are looked for as they are. */
export function found(haystack: Buffer | string, others: readonly string[] = []): readonly string[] {
  const bytes = typeof haystack === 'string' ? Buffer.from(haystack) : haystack;
  const all = [...needles, ...pieces, ...others.map((text) => Buffer.from(text))];
  return all.filter((needle) => bytes.includes(needle)).map(String);
}

/** Requests whose answers tell of a run. */
export const waysOut = (runId: string): readonly string[] => [
  '/v1/runs',
  `/v1/runs/${runId}`,
  ...['updates', 'values', 'messages', 'debug'].map((mode) => `/v1/runs/${runId}/events?streamMode=${mode}`),
  `/v1/runs/${runId}/events/poll?timeout=0`,
  `/v1/runs/${runId}/debug-bundle`,
  `/v1/runs/${runId}/interrupts`,
  '/v1/host/cairn/interrupts',
  '/v1/host/cairn/inbox',
  '/metrics',
];
