/**
 * A client that survives kills of the host: starts runs, follows them to their end, answers questions, and records
 * everything.
 */
import { isTerminalType, type Json, type JsonObject } from '@cairn/protocol';
import { fields, parsedFields } from '../../packages/host/test/kit/json-fields.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';
import { crashWorkflows, inputsOf } from './crash-workflows.ts';
import type { Wire } from './wire.ts';
import type { Witness, WitnessedRun } from './witness.ts';

export interface PatronWorld {
  readonly name: string;
  readonly wire: Wire;
  readonly witness: Witness;
  readonly random: Random;
  /** Starts no further runs once this returns true. */
  readonly finishing: () => boolean;
}

/** Starts runs one after the other until it is time to finish. */
export async function patron(world: PatronWorld): Promise<void> {
  for (let count = 0; !world.finishing(); count += 1) await oneRun(world, `${world.name}-${count}`);
}

/** Relative probability of each workflow. Bulk is rare: its purpose is to fill the write-ahead log. */
const weights = Object.fromEntries(
  crashWorkflows.map(({ id }) => [id, id === 'crash-steps' ? 4 : id === 'crash-bulk' ? 1 : 2]),
);

async function oneRun(world: PatronWorld, key: string): Promise<void> {
  const { witness, random, wire } = world;
  const run = witness.open(key, random.weighted(weights) ?? 'crash-steps');
  const cancelAfter = random.chance(0.08) ? random.between(1, 12) : null;
  await create(world, run);
  const shadow = random.chance(0.2) ? wire.clientSequences(run.runId ?? '') : null;
  shadow?.catch(() => undefined);
  await follow(world, run, cancelAfter);
  if (shadow !== null) compareShadow(world, run, await shadow);
  // The response to an idempotent request outlives the run and the process that sent it.
  if (random.chance(0.25)) await create(world, run);
}

async function create({ wire, witness }: PatronWorld, run: WitnessedRun): Promise<void> {
  const { idempotencyKey, workflowId } = run;
  const { status, body } = await wire.post({
    path: '/v1/runs',
    body: { workflowId, inputs: inputsOf(workflowId), tags: [idempotencyKey] },
    idempotencyKey,
  });
  if (status !== 201) witness.complain('a run can be created', { idempotencyKey, status, body });
  const runId = String(body.runId);
  if (run.runId !== null && run.runId !== runId) {
    witness.complain('one idempotency key starts one run', { idempotencyKey, runId, before: run.runId });
  }
  run.runId = runId;
}

async function follow(world: PatronWorld, run: WitnessedRun, cancelAfter: number | null): Promise<void> {
  const { wire } = world;
  const runId = run.runId ?? '';
  while (run.ended === null) {
    for await (const message of wire.stream(runId, run.events.length - 1)) {
      const event = take(world, run, message.data);
      if (event?.type === 'interrupt.requested') await answer(world, run, fields(event.payload));
      if (cancelAfter !== null && run.cancelled === null && run.events.length >= cancelAfter) await cancel(world, run);
    }
    if (run.ended !== null) return;
    run.resumed += 1;
    await wire.rest();
  }
}

/** Every row is visible to this client, so the next event must have the next sequence. */
function take({ witness }: PatronWorld, run: WitnessedRun, text: string): JsonObject | null {
  const event = parsedFields(text);
  if (run.ended === 'lost track') return null;
  if (run.ended !== null || event.sequence !== run.events.length) {
    const facts = { runId: run.runId, expected: run.events.length, got: event.sequence, ended: run.ended };
    witness.complain('a resumed stream has no gap and no repeat', facts);
    // Later findings could be consequences of this one.
    run.ended = 'lost track';
    return null;
  }
  run.events.push(text);
  witness.events += 1;
  if (isTerminalType(String(event.type))) run.ended = String(event.type);
  return event;
}

/** Another follower of the same run must have seen the same sequences. */
function compareShadow({ witness }: PatronWorld, { runId, events }: WitnessedRun, sequences: readonly number[]): void {
  if (sequences.length === events.length && sequences.every((sequence, index) => sequence === index)) return;
  witness.complain('the client misses nothing and repeats nothing', { runId, expected: events.length, sequences });
}

/** Answers the next question of a run, taking earlier answers at the same node into account. */
async function answer({ wire, witness, random }: PatronWorld, run: WitnessedRun, asked: JsonObject): Promise<void> {
  const nodeId = String(asked.nodeId);
  const value = answerTo(asked, random);
  const record = { interruptId: String(asked.interruptId), nodeId, value, acknowledged: false, resent: 0 };
  const path = `/v1/runs/${run.runId}/interrupts/${nodeId}`;
  run.answers.push(record);
  const { status, body, resent } = await wire.post({ path, body: { resumeValue: value } });
  record.acknowledged = status === 200;
  record.resent = resent;
  // A resent answer may have succeeded the first time, and then have met the node's next question.
  const twice = run.answers.some((earlier) => earlier.nodeId === nodeId && earlier.resent > 0);
  const closed = body.error === 'interrupt_already_resolved' || body.error === 'interrupt_not_found';
  if (status === 200 || (twice && closed) || run.cancelled !== null) return;
  witness.complain('an open interrupt can be answered', { runId: run.runId, asked, status, body });
}

function answerTo({ kind }: JsonObject, random: Random): Json {
  if (kind === 'approval') return { action: 'accept' };
  if (kind === 'clarification') return { answers: { q1: 'the left one' } };
  // The question asks for the outcome of a `write` that a crash interrupted.
  return random.chance(0.5) ? { action: 'retry' } : { action: 'use', result: { decided: 'by a human' } };
}

async function cancel({ wire, witness }: PatronWorld, run: WitnessedRun): Promise<void> {
  const { status, body } = await wire.post({ path: `/v1/runs/${run.runId}/cancel`, body: { reason: 'enough' } });
  if (status !== 200) witness.complain('a run can be cancelled', { runId: run.runId, status, body });
  run.cancelled = String(body.status);
}
