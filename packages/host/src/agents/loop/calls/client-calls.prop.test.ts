/** Calls that clients execute: whatever clients, time and people do, each is asked for once and ends once. */
import { foldRun, type Json, newRunView, type RunView, taskFace } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callCanceled } from '../../../engine/core/control/cancel-call.ts';
import { redecideRecord } from '../../recorded/redecide-record.ts';
import { recordingOf } from '../../recorded/script-recording.kit.ts';
import { AgentScript, sha256, testLoopOptions } from '../agent-script.kit.ts';

const usual = testLoopOptions();
const TIMEOUT_MS = 60_000;

const agent = () =>
  new AgentScript({
    agents: { solo: { manifest: { toolAllowlist: ['client:*'] } } },
    config: { clientTools: { timeoutMs: TIMEOUT_MS, tools: [{ name: 'pick', parameters: { type: 'object' } }] } },
    loopOptions: {
      toolAccess: (run, allowlist) => ({ ...usual.toolAccess(run, allowlist), policy: { name: 'all', lines: ['*'] } }),
    },
  });

type Move = 'result' | 'error' | 'nonsense' | 'again' | 'time' | 'cancel-call' | 'crash' | 'cancel';

const move = fc.record({
  what: fc.constantFrom<Move>(
    'result',
    'result',
    'error',
    'nonsense',
    'again',
    'time',
    'cancel-call',
    'crash',
    'cancel',
  ),
  which: fc.nat(),
});

const values: Partial<Record<Move, Json>> = {
  result: { eventPayload: { result: { color: 'red' } } },
  error: { eventPayload: { error: 'The user closed the page.' } },
};

/** Answers that must leave the call as it is. */
function refused(run: AgentScript, interruptId: string, value: Json): void {
  const rows = run.events.length;
  expect(() => run.answersTo(interruptId, value)).toThrow();
  expect(run.events).toHaveLength(rows);
}

function make(run: AgentScript, { what, which }: { what: Move; which: number }): void {
  const open = Object.values(run.state.view.interrupts);
  const chosen = open[which % Math.max(1, open.length)];
  const ended = Object.keys(run.state.view.resolvedInterrupts);
  switch (what) {
    case 'time':
      run.passes((which % 3) * (TIMEOUT_MS / 2));
      return;
    case 'cancel':
      if (which % 4 === 0) run.cancels();
      return;
    case 'crash':
      if (chosen !== undefined) run.crashes();
      return;
    case 'again': {
      const late = ended[which % Math.max(1, ended.length)];
      if (late !== undefined) refused(run, late, values.result ?? null);
      return;
    }
    default:
  }
  if (chosen === undefined) return;
  const { interruptId, data } = chosen;
  if (what === 'nonsense') {
    refused(run, interruptId, { eventPayload: { result: 1, error: 'both' } });
  } else if (what === 'cancel-call') {
    const { toolCallId } = data.correlation as { toolCallId: string };
    run.write(callCanceled(run, toolCallId, { by: 'ann', at: run.now }));
    run.settle();
  } else {
    run.answersTo(interruptId, values[what] ?? null);
  }
}

/** The events of each call, in order. */
function stories(run: AgentScript): ReadonlyMap<unknown, readonly unknown[]> {
  const view: RunView = newRunView(run.state.runId);
  const calls = new Map<unknown, unknown[]>();
  const callOf = new Map<unknown, unknown>();
  for (const event of run.events) {
    foldRun(view, event);
    const face = taskFace(view, event);
    if (face?.kind === 'input-required') callOf.set(face.inputId, face.toolCallId);
    const callId = face?.toolCallId ?? callOf.get(face?.inputId);
    if (callId !== undefined) calls.set(callId, [...(calls.get(callId) ?? []), face?.kind]);
  }
  return calls;
}

const whole = ['tool-start', 'input-required', 'input-received', 'tool-complete'];

test('in any order of results, refusals, silence, crashes and cancels, and again from the record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(move, { maxLength: 14 }), async (count, moves) => {
      const run = agent();
      run.calls(...Array.from({ length: count }, () => ['pick', {}] as const));
      for (const next of moves) if (!run.state.ended) make(run, next);
      // Whoever has not answered by now never does.
      if (!run.state.ended) run.passes(TIMEOUT_MS);
      if (!run.state.ended) run.says({ text: 'Done.' });
      expect(run.state.ended).toBe(true);
      expect([...stories(run).values()]).toEqual(Array.from({ length: count }, () => whole));
      const verdict = await redecideRecord(recordingOf(run), { sha256 });
      expect(verdict).toMatchObject({ problem: null, divergence: null });
    }),
    { numRuns: 80 },
  );
});
