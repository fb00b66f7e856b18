/** Properties of how agents show in the task view, over random histories of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FoldEvent } from '../events/event.ts';
import type { JsonObject } from '../json.ts';
import { agentHistory } from './agent-history.kit.ts';
import { someRun } from './legal-history.kit.ts';
import { foldRun } from './run.ts';
import { newRunView, type RunView } from './run-view.ts';
import { runSnapshot } from './snapshot.ts';
import { taskFace } from './task-face.ts';

interface Shown {
  readonly event: FoldEvent;
  readonly face: JsonObject | null;
}

/** The faces of a history whose view goes through text after every `step` events. */
function shown(events: readonly FoldEvent[], step = Number.POSITIVE_INFINITY): { rows: Shown[]; view: RunView } {
  let view = newRunView(someRun);
  const rows = events.map((event, i) => {
    if (i % step === step - 1) view = JSON.parse(JSON.stringify(view)) as RunView;
    foldRun(view, event);
    return { event, face: taskFace(view, event) };
  });
  return { rows, view };
}

test('the pieces of a block join to its content, numbered from 0 without a gap', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const open = new Map<string, { text: string; next: number }>();
      for (const { event, face } of shown(events).rows) {
        const contentId = `${event.nodeId} ${String(face?.contentId)}`;
        const block = open.get(contentId) ?? { text: '', next: 0 };
        if (face?.kind === 'content-delta') {
          expect(face.index).toBe(block.next);
          open.set(contentId, { text: block.text + String(face.delta), next: block.next + 1 });
        } else if (face?.kind === 'content-complete') {
          const { chunk } = event.payload as JsonObject;
          expect(face.content).toBe(block.text + String(chunk));
          open.delete(contentId);
        } else if (event.type === 'cairn.model.abandoned') {
          // A dead attempt is discarded, and the next one begins a block of the same name.
          for (const id of open.keys()) if (id.startsWith(`${event.nodeId} `)) open.delete(id);
        }
      }
    }),
  );
});

test('every tool-start has one tool-complete after it; a call that is asked for again starts once', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const open = new Set<unknown>();
      const seen = new Set<unknown>();
      for (const { face } of shown(events).rows) {
        if (face?.kind === 'tool-start') {
          expect(seen.has(face.toolCallId)).toBe(false);
          seen.add(face.toolCallId);
          open.add(face.toolCallId);
        }
        if (face?.kind === 'tool-progress') expect(open.has(face.toolCallId)).toBe(true);
        if (face?.kind === 'tool-complete') expect(open.delete(face.toolCallId)).toBe(true);
      }
      expect([...open]).toEqual([]);
      expect(seen.size).toBe(new Set(calls(events)).size);
    }),
  );
});

const calls = (events: readonly FoldEvent[]): unknown[] =>
  events.filter(({ type }) => type === 'agent.toolCalled').map(({ payload }) => (payload as JsonObject).callId);

test('thoughts are numbered from 0 through the whole task', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const thoughts = shown(events).rows.filter(({ face }) => face?.kind === 'thought-stream');
      expect(thoughts.map(({ face }) => face?.index)).toEqual(thoughts.map((_, i) => i));
      expect(new Set(thoughts.map(({ face }) => face?.thoughtId)).size).toBe(thoughts.length);
    }),
  );
});

test('a view that goes through text after any row shows the same faces and the same snapshot', () => {
  fc.assert(
    fc.property(agentHistory, fc.integer({ min: 1, max: 7 }), (events, step) => {
      const whole = shown(events);
      const stored = shown(events, step);
      expect(JSON.stringify(stored.rows)).toBe(JSON.stringify(whole.rows));
      expect(JSON.stringify(runSnapshot(stored.view))).toBe(JSON.stringify(runSnapshot(whole.view)));
    }),
  );
});

test('a run that is over keeps nothing of what its agents had under way', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const { view } = shown(events);
      expect([view.blocks, view.toolCalls, view.ended]).toEqual([{}, {}, null]);
    }),
  );
});

test('what is used adds up, over the agents, to what the run used', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const { usage, agentUsage } = shown(events).view;
      const sum = Object.values(agentUsage).reduce((total, { totalTokens }) => total + totalTokens, 0);
      expect(sum).toBe(usage.totalTokens);
    }),
  );
});

test('a face of an agent names who acted, which changes with a handoff', () => {
  fc.assert(
    fc.property(agentHistory, (events) => {
      const acting = new Map<string | undefined, unknown>();
      for (const { event, face } of shown(events).rows) {
        const { agent, toAgentId } = event.payload as { agent?: { agentId: string }; toAgentId?: string };
        if (event.type === 'node.started') acting.set(event.nodeId, agent?.agentId);
        if (event.type === 'agent.handoff') acting.set(event.nodeId, toAgentId);
        if (face === null) continue;
        // Only who was asked is named in these; a block keeps the agent that began it.
        if (['input-received', 'subtask-created', 'content-delta', 'content-complete'].includes(String(face.kind)))
          continue;
        const known = [...acting.values(), 'core.system'];
        // The host acts for a run in which no agent has acted yet.
        if (event.nodeId === undefined || String(face.kind).startsWith('task-')) expect(known).toContain(face.agentId);
        else expect(face.agentId).toBe(acting.get(event.nodeId) ?? 'core.system');
      }
    }),
  );
});
