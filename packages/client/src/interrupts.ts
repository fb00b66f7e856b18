/** Open interrupts: list them, and answer with a token instead of an API key. */
import type {
  InterruptToken,
  Json,
  MintInterruptToken,
  OpenInterrupt,
  OpenInterrupts,
  PendingInterrupts,
} from '@cairn/protocol';
import {
  type CallOptions,
  type ChangeOptions,
  change,
  type PastOptions,
  query,
  read,
  runPath,
  segment,
} from './calls.ts';
import type { Connection } from './connection.ts';

export interface InterruptPage {
  /** Rows of one page. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface Interrupts {
  /** What a run waits for, or waited for after an event, with the data of each question, the oldest first. */
  ofRun(runId: string, options?: PastOptions): Promise<readonly OpenInterrupt[]>;
  /** What all runs of the tenant wait for, the oldest first, one page. */
  pending(page?: InterruptPage, options?: CallOptions): Promise<PendingInterrupts>;
  /** A token that answers (or only shows) one question, once, without a key. */
  token(runId: string, nodeId: string, token?: MintInterruptToken, options?: ChangeOptions): Promise<InterruptToken>;
  /** The question of a token. Needs no key. */
  get(token: string, options?: CallOptions): Promise<OpenInterrupt>;
  /** Answers the question of a token. Needs no key. */
  resolve(token: string, value: Json, options?: ChangeOptions): Promise<void>;
}

export function interruptCalls(connection: Connection): Interrupts {
  return {
    async ofRun(runId, options) {
      return (await read<OpenInterrupts>(connection, `${runPath(runId)}/interrupts`, options)).interrupts;
    },
    pending: (page, options) => read(connection, `/v1/host/cairn/interrupts${query({ ...page })}`, options),
    token: (runId, nodeId, token, options) =>
      change(
        connection,
        {
          path: `/v1/host/cairn/runs/${segment(runId)}/interrupts/${segment(nodeId)}/token`,
          body: token ?? {},
        },
        options,
      ),
    get: (token, options) => read(connection, `/v1/interrupts/${segment(token)}`, options),
    async resolve(token, value, options) {
      await change(connection, { path: `/v1/interrupts/${segment(token)}`, body: { resumeValue: value } }, options);
    },
  };
}
