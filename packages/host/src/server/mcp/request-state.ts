/** What a client carries between a question and its answer: signed, for one caller, tool and question, usable once. */
import { randomUUID } from 'node:crypto';
import { isCairnError, parseRunId, type RunId } from '@cairn/protocol';
import { z } from 'zod';
import type { Call } from '../http/routes.ts';
import type { Idempotency } from '../idempotency/idempotency.ts';
import { McpError } from './rpc.ts';
import type { Signed } from './signed.ts';

export interface StatePorts {
  readonly signed: Signed;
  readonly requests: Idempotency;
  readonly now: () => number;
}

/** How long a client may take to answer. */
const LIFE_MS = 3_600_000;

const shape = z.object({
  kind: z.literal('state'),
  id: z.string(),
  runId: z.string(),
  inputId: z.string(),
  tool: z.string(),
  /** Absent in states of earlier versions. */
  form: z.string().default('answer'),
  expiresAt: z.number(),
});

export interface Asked {
  readonly runId: RunId;
  readonly inputId: string;
  readonly tool: string;
  /** The name of the form among the input requests. */
  readonly form: string;
}

export const stateText = ({ caller }: Call, asked: Asked, { signed, now }: StatePorts): string =>
  signed.sign(caller, { kind: 'state', id: randomUUID(), ...asked, expiresAt: now() + LIFE_MS });

/** A state that may be used once. */
export interface OpenState extends Asked {
  readonly id: string;
}

/** Throws for a state that is not this caller's, is of another tool, or has expired. */
export function openState({ caller }: Call, text: unknown, tool: string, ports: StatePorts): OpenState {
  const state = shape.safeParse(typeof text === 'string' ? ports.signed.open(caller, text) : null).data;
  const runId = state === undefined ? null : parseRunId(state.runId);
  if (state === undefined || runId === null || state.tool !== tool) throw invalid('is not one of this call');
  if (state.expiresAt <= ports.now()) throw invalid('has expired');
  const { id, inputId, form } = state;
  return { id, runId, inputId, tool, form };
}

/** Throws for a state that was used before. */
export async function useState(call: Call, { id }: OpenState, ports: StatePorts): Promise<void> {
  if (!(await claimed(call, id, ports))) throw invalid('was used before');
}

/** The record is durable: a restart forgets no use. */
async function claimed({ caller: { tenant } }: Call, id: string, { requests }: StatePorts): Promise<boolean> {
  const key = { tenant, endpoint: 'MCP requestState', key: id, content: {}, recordsItself: false };
  try {
    const { isReplayed } = await requests.carryOut(key, async () => ({ status: 200, headers: {}, body: '' }));
    return !isReplayed;
  } catch (error) {
    if (isCairnError(error, 'idempotency_in_flight')) return false;
    throw error;
  }
}

const invalid = (why: string): McpError =>
  new McpError('params', `The requestState ${why}. Call the tool again, or answer in the inbox of the host.`);
