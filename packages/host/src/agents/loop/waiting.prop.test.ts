/** A task says that it waits only while nothing else of it works, and names everything that it waits for. */
import { foldRun, newRunView, type RunView, taskFace } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ScriptEvent } from '../../../test/kit/run-script.ts';
import { redecideRecord } from '../recorded/redecide-record.ts';
import { recordingOf } from '../recorded/script-recording.kit.ts';
import { AgentScript, sha256, testLoopOptions } from './agent-script.kit.ts';

type Kind = 'host' | 'ask' | 'client';

const tools: Readonly<Record<Kind, string>> = { host: 'openwop_look', ask: 'openwop_web', client: 'pick' };
const usual = testLoopOptions();

const agent = () =>
  new AgentScript({
    agents: { solo: { manifest: { toolAllowlist: ['openwop:look', 'openwop:web', 'client:pick'] } } },
    config: {
      clientTools: { timeoutMs: 3_600_000, tools: [{ name: 'pick', parameters: { type: 'object' } }] },
    },
    loopOptions: {
      toolAccess: (run, allowlist) => ({ ...usual.toolAccess(run, allowlist), policy: { name: 'all', lines: ['*'] } }),
    },
  });

const openHostCalls = (run: AgentScript) => [...run.state.calls.values()].filter(({ step }) => step === 'cairn.tool');

/** What may happen next: a call of the host goes on, or somebody answers. */
function moves(run: AgentScript): (() => void)[] {
  const landings = openHostCalls(run).map(({ callId }) => () => {
    const { toolId, records } = run.inputOf(run.state.calls.get(callId) ?? run.modelCall);
    const question = { kind: 'ask', name: 'q', prompt: 'Which?' } as const;
    const isAsking = toolId === 'openwop:web' && records.length === 0;
    run.lands(callId, {
      outcome: isAsking ? { kind: 'suspended', ordinal: 0, question } : { kind: 'result', value: 1 },
    });
  });
  const answers = Object.values(run.state.view.interrupts).map(({ interruptId, kind }) => () => {
    const value = kind === 'clarification' ? { answers: { answer: 'red' } } : { eventPayload: { result: 1 } };
    run.answersTo(interruptId, value);
  });
  return [...landings, ...answers];
}

/** Checked whenever the run waits for a fact: then the status is that of its calls and questions. */
function checkStatus(run: AgentScript): void {
  const isAsked = Object.keys(run.state.view.interrupts).length > 0;
  const isAtWork = run.state.calls.size > 0;
  expect(run.state.view.taskStatus).toBe(isAsked && !isAtWork ? 'waiting-input' : 'working');
  if (!isAsked || isAtWork) return;
  // An answer to one of several leaves the status as it is.
  expect(waits(run).at(-1)?.open).toEqual(expect.arrayContaining(Object.keys(run.state.view.interrupts)));
}

/** Whether a row begins work of the host, or ends it. */
function workOf({ type, payload }: ScriptEvent): 'begins' | 'ends' | null {
  if (type === 'cairn.model.requested' || type === 'cairn.step.requested') return 'begins';
  if (type === 'agent.toolCalled') return payload.toolName === 'client:pick' ? null : 'begins';
  return ['cairn.model.returned', 'cairn.step.returned', 'agent.toolReturned'].includes(type) ? 'ends' : null;
}

/** The waits in the order of the rows: what the status names, what is open, and what the host works on. */
function waits(run: AgentScript) {
  const view: RunView = newRunView(run.state.runId);
  const work = new Set<unknown>();
  return run.events.flatMap((event) => {
    foldRun(view, event);
    const change = workOf(event);
    if (change === 'begins') work.add(event.payload.callId);
    if (change === 'ends') work.delete(event.payload.callId);
    const face = taskFace(view, event);
    if (face?.kind !== 'task-status' || face.status !== 'waiting-input') return [];
    return [{ metadata: face.metadata, open: Object.keys(view.interrupts), work: [...work] }];
  });
}

const calls = fc.array(fc.constantFrom<Kind>('host', 'ask', 'client'), { minLength: 1, maxLength: 5 });

test('with calls of the host, of the client, and questions side by side, in any order, and again from the record', async () => {
  await fc.assert(
    fc.asyncProperty(calls, fc.array(fc.nat(), { minLength: 20, maxLength: 20 }), async (kinds, choices) => {
      const run = agent();
      run.calls(...kinds.map((kind) => [tools[kind], { n: 1 }] as const));
      expect(run.all('agent.toolCalled')).toHaveLength(kinds.length);
      for (const choice of choices) {
        checkStatus(run);
        const next = moves(run);
        if (next.length === 0) break;
        next[choice % next.length]?.();
      }
      run.says({ text: 'Done.' });
      expect(run.status).toBe('completed');
      for (const { metadata, open, work } of waits(run)) {
        expect(work).toEqual([]);
        expect(metadata).toEqual({ blockedBy: 'user', pending: open.map((id) => ({ type: 'input', id })) });
      }
      const verdict = await redecideRecord(recordingOf(run), { sha256 });
      expect(verdict).toMatchObject({ problem: null, divergence: null });
    }),
    { numRuns: 100 },
  );
});
