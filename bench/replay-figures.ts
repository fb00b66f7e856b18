/** Figures for replays: how fast a recorded history is decided again and compared. */
import type { RunId } from '@cairn/protocol';
import { foldEventOf } from '@cairn/protocol';
import { compose } from '../packages/host/src/engine/core/compose.ts';
import { evolve } from '../packages/host/src/engine/core/evolve.ts';
import { callReturned } from '../packages/host/src/engine/core/facts.ts';
import { newRunState } from '../packages/host/src/engine/core/new-run-state.ts';
import type { RecordedRow } from '../packages/host/src/engine/replay/recorded-row.ts';
import { redecide } from '../packages/host/src/engine/replay/redecide.ts';
import { RunScript, step, workflowOf } from '../packages/host/test/kit/run-script.ts';
import type { Figure, Sample } from './figure.ts';
import type { Group, Plan } from './plan.ts';

export const replayGroup: Group = {
  name: 'replay',
  about: 'a recorded history of 100,000 events, decided again',
  figures: ['replay-redecide'],
  run: async (plan) => [await redecided(plan)],
};

const EVENTS = 100_000;
/** As the host reads a record. */
const PAGE = 1_000;
const RUN = 'run_1' as RunId;

/** A loop over a step and an expression; a result has 200 bytes. */
const definition = workflowOf(
  { call: step('read'), turn: { type: 'core.conditional', config: { expression: 'outputs.call.more' } } },
  [
    { from: 'call', to: 'turn' },
    { from: 'turn', to: 'call', port: 'true' },
  ],
);

interface History {
  readonly script: RunScript;
  readonly rows: readonly RecordedRow[];
}

function history(): History {
  const script = new RunScript(definition, { limits: { maxNodeExecutions: EVENTS } });
  const rows = script.events.map(
    ({ seq, at, type, nodeId = null, cause = null, payload }): RecordedRow => ({
      ...{ seq, at, type, nodeId, cause },
      payload: JSON.stringify(payload),
    }),
  );
  const body = 'x'.repeat(200);
  for (let [call] = script.state.calls.values(); call !== undefined; [call] = script.state.calls.values()) {
    const outcome = { more: rows.length < EVENTS - 8, body };
    const { base, rows: added } = compose({
      state: script.state,
      workflow: script.workflow,
      facts: [callReturned(call.callId, call.attempt, { outcome })],
      now: script.now + rows.length,
      maxRows: 64,
      limits: {},
      takenOver: false,
      hasCheckedRelatives: true,
      waitsHere: () => false,
      underWay: () => true,
      broken: (error) => {
        throw error;
      },
    });
    for (const [i, { at, type, nodeId = null, cause = null, payload }] of added.entries())
      rows.push({ seq: base + i, at, type, nodeId, cause, payload });
  }
  return { script, rows };
}

async function redecided(plan: Plan): Promise<Figure> {
  const { script, rows } = history();
  const { workflow } = script;
  const pages = Array.from({ length: Math.ceil(rows.length / PAGE) }, (_, i) => rows.slice(i * PAGE, (i + 1) * PAGE));
  const perSecond = async (work: () => Promise<void> | void): Promise<number> => {
    const began = performance.now();
    await work();
    return (rows.length * 1_000) / (performance.now() - began);
  };
  const again = async () => {
    const { events, divergence } = await redecide({ runId: RUN, workflow }, pages);
    if (divergence !== null || events !== rows.length) throw new Error(`The history diverges at ${divergence?.seq}.`);
  };
  const fold = () => {
    const state = newRunState(RUN);
    for (const row of rows) evolve(state, workflow, foldEventOf(row));
  };
  await again();
  fold();
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const sample = { value: await perSecond(again), limit: await perSecond(fold) };
    plan.progress(`  ${Math.round(sample.value)} events/s decided and compared, ${Math.round(sample.limit)} folded`);
    samples.push(sample);
  }
  return {
    name: 'replay-redecide',
    unit: 'events/s',
    limitName: 'folding the same rows',
    bar: { of: 'value', is: '>=', amount: 200_000 },
    samples,
    notes: [`${rows.length} events in pages of ${PAGE}`],
  };
}
