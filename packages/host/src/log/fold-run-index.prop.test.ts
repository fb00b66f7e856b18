/** The run list says what the run's own view says: at the end of every append, status, waiting node and questions agree. */

import { foldRun, type JsonObject, newRunView, type RunId, typedEvent } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { present } from '../../test/kit/present.ts';
import { foldRunIndex, type IndexedRun, newRunIndex } from './fold-run-index.ts';
import { context, runA } from './ports/samples.kit.ts';

interface Event {
  readonly type: string;
  readonly nodeId?: string;
  readonly payload: JsonObject;
}

const kinds = ['approval', 'clarification', 'external-event', 'custom', 'low-confidence', 'conversation.exchange'];
const nodes = ['n0', 'n1', 'n2'];
const node = (type: string, nodeId: string, payload: JsonObject = {}): Event => ({
  type,
  nodeId,
  payload: { nodeId, ...payload },
});

/** What one append of the engine may hold; questions and answers come with the rows that belong to them. */
const batches = fc.oneof(
  fc.record({ do: fc.constantFrom('start', 'complete', 'fail'), node: fc.nat(2), kind: fc.nat(5) }),
  fc.record({ do: fc.constantFrom('ask', 'answer', 'cancel node', 'use'), node: fc.nat(2), kind: fc.nat(5) }),
  fc.record({ do: fc.constantFrom('pause', 'resume', 'cancel'), node: fc.constant(0), kind: fc.constant(0) }),
);

/** Turns a plan into a legal history: a node asks only while it runs, and answers only what it asked. */
function history(steps: readonly { readonly do: string; readonly node: number; readonly kind: number }[]): Event[][] {
  const active = new Set<string>();
  const asked = new Map<string, string>();
  let paused = false;
  let count = 0;
  const ended = (nodeId: string): void => {
    active.delete(nodeId);
    asked.delete(nodeId);
  };
  return steps.flatMap(({ do: what, node: place, kind }): Event[][] => {
    const nodeId = present(nodes[place]);
    const interruptId = asked.get(nodeId);
    if (what === 'start' && !active.has(nodeId)) {
      active.add(nodeId);
      return [[node('node.started', nodeId, { typeId: 'core.noop', attempt: 0 })]];
    }
    if (what === 'ask' && active.has(nodeId) && interruptId === undefined) {
      const id = `i${count++}`;
      asked.set(nodeId, id);
      const question = { interruptId: id, kind: present(kinds[kind]), key: id, data: {} };
      return [[node('interrupt.requested', nodeId, question), node('node.suspended', nodeId, { interruptId: id })]];
    }
    if (what === 'answer' && interruptId !== undefined) {
      asked.delete(nodeId);
      return [[node('interrupt.resolved', nodeId, { interruptId }), node('node.resumed', nodeId)]];
    }
    if (what === 'complete' && active.has(nodeId) && interruptId === undefined) {
      ended(nodeId);
      return [[node('node.completed', nodeId, { outputs: {} })]];
    }
    if ((what === 'fail' || what === 'cancel node') && active.has(nodeId)) {
      ended(nodeId);
      return [[node(what === 'fail' ? 'node.failed' : 'node.cancelled', nodeId)]];
    }
    if (what === 'pause' && !paused) {
      paused = true;
      return [[{ type: 'run.paused', payload: {} }]];
    }
    if (what === 'resume' && paused) {
      paused = false;
      return [[{ type: 'run.resumed', payload: {} }]];
    }
    if (what === 'use') {
      const usage = {
        provider: 'p',
        model: 'm',
        inputTokens: place + 1,
        outputTokens: kind,
        costEstimateUsd: kind / 4,
      };
      return [[node('provider.usage', nodeId, usage)]];
    }
    return what === 'cancel' ? [[{ type: 'cairn.cancel.requested', payload: {} }]] : [];
  });
}

const endings = fc.constantFrom('run.completed', 'run.failed', 'run.cancelled');

describe('the run index', () => {
  it('agrees with the view of the run after every append', () => {
    fc.assert(
      fc.property(fc.array(batches, { maxLength: 40 }), endings, (plan, ending) => {
        const first: Event = { type: 'run.started', payload: { workflowId: 'wf', tags: ['a'] } };
        const view = newRunView(runA);
        let index: IndexedRun = newRunIndex(runA, { tenant: 't', contextId: context, originRunId: runA as RunId }, 0);
        let seq = 0;
        for (const batch of [[first], ...history(plan), [{ type: ending, payload: {} }]]) {
          for (const event of batch) {
            foldRun(view, typedEvent({ ...event, seq, at: seq }));
            index = foldRunIndex(index, { ...event, at: seq, payload: JSON.stringify(event.payload) }, seq);
            seq += 1;
          }
          expect(index.record.status).toBe(view.status);
          for (const [id, { seq: askedAt, votes }] of index.open) {
            expect({ seq: askedAt, votes }).toEqual({
              seq: view.interrupts[id]?.seq,
              votes: view.interrupts[id]?.votes,
            });
          }
          expect([...index.open.keys()].toSorted()).toEqual(Object.keys(view.interrupts).toSorted());
        }
        expect(index.record.endedAt).toBe(view.endedAt);
        expect(index.record.tags).toEqual(view.tags);
        const { inputTokens, outputTokens, costUsd } = index.record.summary;
        const { usage } = view;
        expect([inputTokens, outputTokens, costUsd]).toEqual([usage.inputTokens, usage.outputTokens, usage.costUsd]);
      }),
      { numRuns: 500 },
    );
  });
});
