/** Properties of the run view over random legal histories. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FoldEvent } from '../events/event.ts';
import { isTerminalType } from '../events/terminal-types.ts';
import { isTerminalStatus } from '../runs/run-status.ts';
import { legalHistory, someRun } from './legal-history.kit.ts';
import { foldRun } from './run.ts';
import { newRunView, type RunView } from './run-view.ts';
import { runSnapshot } from './snapshot.ts';
import { canFollow, statusOf } from './status.ts';

const viewOf = (events: readonly FoldEvent[], view: RunView = newRunView(someRun)): RunView => {
  for (const event of events) foldRun(view, event);
  return view;
};

/** A copy of the events that shares nothing with them. */
const frozen = (events: readonly FoldEvent[]): FoldEvent[] => events.map((event) => deepFreeze(structuredClone(event)));

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

test('the view of a prefix, stored as text and read back, goes on to the view of the whole', () => {
  fc.assert(
    fc.property(legalHistory, fc.nat(), (events, at) => {
      const cut = at % (events.length + 1);
      const stored = JSON.parse(JSON.stringify(viewOf(events.slice(0, cut)))) as RunView;
      const resumed = viewOf(events.slice(cut), stored);
      const whole = viewOf(events);
      // As text: matchers take a key named `constructor` for the type.
      expect(JSON.stringify(resumed)).toBe(JSON.stringify(whole));
      expect(JSON.stringify(runSnapshot(resumed))).toBe(JSON.stringify(runSnapshot(whole)));
    }),
  );
});

test('no event is changed by being folded', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      expect(JSON.stringify(viewOf(frozen(events)))).toBe(JSON.stringify(viewOf(events)));
    }),
  );
});

test('a snapshot stays as it was when more events are folded', () => {
  fc.assert(
    fc.property(legalHistory, fc.nat(), (events, at) => {
      const cut = at % (events.length + 1);
      const view = viewOf(events.slice(0, cut));
      const snapshot = runSnapshot(view);
      const before = JSON.stringify(snapshot);
      viewOf(events.slice(cut), view);
      expect(JSON.stringify(snapshot)).toBe(before);
    }),
  );
});

test('the status moves only as the table allows and never leaves a terminal one', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const view = newRunView(someRun);
      for (const event of [...events, { ...(events[0] as FoldEvent), seq: events.length }]) {
        const before = view.status;
        foldRun(view, event);
        expect(canFollow(before, view.status)).toBe(true);
        if (isTerminalStatus(before)) expect(view.status).toBe(before);
        if (isTerminalType(event.type)) expect(isTerminalStatus(view.status)).toBe(true);
      }
    }),
  );
});

test('a run waits exactly while a suspended node has an open question, and says at which node', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const view = newRunView(someRun);
      for (const event of events) {
        foldRun(view, event);
        // Between an answer and the node going on, in one append, the run still shows the wait.
        if (event.type === 'interrupt.resolved') continue;
        const open = Object.values(view.interrupts).filter((one) => one.suspended);
        if (view.status.startsWith('waiting-')) expect(open.length).toBeGreaterThan(0);
        if (view.status === 'running') expect(open).toEqual([]);
        const oldest = open.toSorted((a, b) => a.seq - b.seq)[0];
        expect(view.currentNodeId).toBe(oldest?.nodeId ?? null);
        expect(view.waits['waiting-approval'] + view.waits['waiting-input'] + view.waits['waiting-external']).toBe(
          open.length,
        );
      }
      expect(view.interrupts).toEqual({});
      expect(view.activeNodes).toBe(0);
    }),
  );
});

test('a pause shows from its event to the resume, whatever is asked and answered meanwhile', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const view = newRunView(someRun);
      let isPaused = false;
      for (const event of events) {
        foldRun(view, event);
        if (event.type === 'run.paused') isPaused = true;
        const isOver = event.type === 'cairn.cancel.requested' || isTerminalType(event.type);
        if (event.type === 'run.resumed' || isOver) isPaused = false;
        expect(view.status === 'paused').toBe(isPaused);
        if (event.type === 'run.resumed') expect(view.status).toBe(statusOf(view.waits));
      }
    }),
  );
});

test('active nodes are those that started and have not ended', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const view = newRunView(someRun);
      const active = new Set<string>();
      for (const event of events) {
        foldRun(view, event);
        if (event.type === 'node.started') active.add(event.nodeId as string);
        if (/^node\.(completed|failed|skipped|cancelled)$/.test(event.type)) active.delete(event.nodeId as string);
        expect(view.activeNodes).toBe(active.size);
      }
    }),
  );
});

test('a log without the node column folds to the same, by the node its payloads name', () => {
  fc.assert(
    fc.property(legalHistory, (events) => {
      const bare = events.map(({ nodeId: _, ...event }) => event);
      expect(JSON.stringify(viewOf(bare))).toBe(JSON.stringify(viewOf(events)));
    }),
  );
});
