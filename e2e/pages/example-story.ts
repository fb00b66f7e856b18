/** A story whose requests become examples: what sends them, and what its steps read from the answers. */
import type { ApiExample } from '../../packages/host/src/server/openapi/api-examples.ts';

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Request = Pick<ApiExample, 'path' | 'query' | 'headers' | 'body'>;

interface Step {
  readonly id: string;
  readonly request?: Request;
  /** Only what the first frames of its stream are. */
  readonly hasStream?: true;
  /** Its stream has no end, and is all that it answers. */
  readonly isEndless?: true;
  /** Sent to prepare a later step; no example. */
  readonly isSilent?: true;
}

export type Sent = (step: Step) => Promise<Value>;

export async function until(send: Sent, runId: string, ...statuses: readonly string[]): Promise<void> {
  for (;;) {
    const run = await send({ id: 'getRun', request: { path: { runId } }, isSilent: true });
    if (statuses.includes(field(run, 'status'))) return;
  }
}

export function field(value: Value, name: string): string {
  const found = typeof value === 'object' && value !== null && !Array.isArray(value) ? value[name] : undefined;
  if (typeof found === 'string') return found;
  throw new Error(`There is no ${name} in ${JSON.stringify(value)}.`);
}
