/** Ids inside payloads are unique in a context, and a replay of a run derives the same ones. */
import { hash } from 'node:crypto';
import { type Json, type JsonObject, type RunId, row, runId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunScript, type ScriptEvent, workflowOf } from '../../../test/kit/run-script.ts';
import type { NodeOptions } from '../workflow/define-workflow.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import { newRunState } from './new-run-state.ts';

const kinds: readonly NodeOptions[] = [
  { type: 'core.approvalGate' },
  { type: 'core.clarificationGate', config: { questions: [{ id: 'q', question: 'Which?' }] } },
  { type: 'core.conversationGate', config: { prompt: 'Hello' } },
  { type: 'core.delay', config: { delayMs: 20 } },
  { type: 'core.subWorkflow', config: { workflowId: 'below' } },
  { type: 'local.step.read', settings: { retry: { maxRetries: 1, backoffMs: 5 }, timeoutMs: 1_000 } },
];

const workflows = fc
  .array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 })
  .map((nodes) => workflowOf(Object.fromEntries(nodes.map((node, i) => [`n${i}`, node]))));

/** A tree of runs by the ids of its nodes: the root, and children named after the place below their parent. */
const trees = fc
  .record({
    root: fc.uuid({ version: 7 }),
    below: fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
  })
  .map(({ root, below }) => [...new Set([root, ...below.map((path) => `${root}.${path.join('.')}`)])].map(runId));

const tokenOf = (id: RunId): string => hash('sha256', id, 'hex').slice(0, 12);

function played(definition: ReturnType<typeof workflowOf>, id: RunId): RunScript {
  const script = new RunScript(definition, { runId: id, idToken: tokenOf(id) });
  for (let turn = 0; turn < 30 && !script.state.ended; turn += 1) {
    const [call] = [...script.state.calls.values()];
    const [interrupt] = Object.values(script.state.view.interrupts);
    if (call?.step.startsWith('local.') === true) script.returns(call.nodeId, {});
    else if (interrupt?.kind === 'approval') script.answersTo(interrupt.interruptId, { action: 'accept' });
    else script.passes(100);
  }
  return script;
}

const idFields = new Set([
  'interruptId',
  'callId',
  'conversationId',
  'invocationId',
  'messageId',
  'artifactId',
  'timerId',
]);

function* idsIn(value: Json | undefined, name = ''): Generator<readonly [name: string, id: string]> {
  if (typeof value === 'string' && idFields.has(name)) yield [name, value];
  if (Array.isArray(value)) for (const item of value) yield* idsIn(item, name);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value as JsonObject)) yield* idsIn(member, key);
  }
}

const idsOf = (events: readonly ScriptEvent[]): ReadonlySet<string> =>
  new Set(
    events.flatMap(({ payload }) => [...idsIn(payload as Json)].map(([, id]) => id)).filter((id) => !isNodeId(id)),
  );

/** A gate without an artifact of its own decides on its node. */
const isNodeId = (id: string): boolean => /^[a-z]\d?$/.test(id);

test('runs of one context never share an id, whatever their place in trees', () => {
  fc.assert(
    fc.property(workflows, fc.array(trees, { minLength: 1, maxLength: 3 }), (definition, context) => {
      const owner = new Map<string, RunId>();
      for (const id of new Set(context.flat())) {
        const script = played(definition, id);
        for (const one of idsOf(script.events)) {
          expect(one, 'its form').toMatch(/^(expiry:)?[a-z]+_[0-9a-f]{12}_/);
          expect(owner.get(one) ?? id, one).toBe(id);
          owner.set(one, id);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a replay under another run id decides the same payloads, to the last byte', () => {
  fc.assert(
    fc.property(workflows, fc.uuid({ version: 7 }), fc.uuid({ version: 7 }), (definition, origin, fork) => {
      const source = played(definition, runId(origin));
      const state = newRunState(runId(fork), runId(origin));
      for (const event of source.events) {
        const [draft] = decide(state, source.workflow).drafts;
        if (draft !== undefined && draft.type === event.type) {
          expect(JSON.stringify(draft.payload)).toBe(JSON.stringify(event.payload));
        }
        evolve(state, source.workflow, event);
      }
      expect(JSON.stringify([state.view.interrupts, [...state.calls], state.timers, state.children])).not.toContain(
        fork,
      );
    }),
    { numRuns: 60 },
  );
});

test('a branch names itself in what it decides, and keeps the token of its origin', () => {
  const gates = workflowOf({ a: 'core.approvalGate', b: 'core.approvalGate' }, [{ from: 'a', to: 'b' }]);
  const script = new RunScript(gates, { runId: runId('origin'), idToken: 'abcdefabcdef' });
  const forked = {
    runId: runId('branch'),
    sourceRunId: runId('origin'),
    fromSeq: script.state.nextSeq,
    mode: 'branch',
  };
  script.write([row('cairn.run.forked', { ...forked, mode: 'branch' as const })]);
  script.answers('a', { action: 'accept' });
  const asked = script.events.filter(({ type }) => type === 'interrupt.requested').map(({ payload }) => payload);
  expect(asked).toMatchObject([
    { runId: 'run_origin', interruptId: 'int_abcdefabcdef_0_a' },
    { runId: 'run_branch', interruptId: 'int_abcdefabcdef_1_b', key: 'run_branch:b:1' },
  ]);
});

test('a run that recorded no token goes on with plain ids', () => {
  const script = new RunScript(workflowOf({ a: 'core.approvalGate', b: 'local.step.read' }, []), {
    runId: runId('old'),
  });
  expect([...idsOf(script.events)].sort()).toEqual(['b#0', 'int_0_a']);
});
