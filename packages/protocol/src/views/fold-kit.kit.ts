/** Short ways to write events in the tests of the folds; not shipped. */
import type { FoldEvent } from '../events/event.ts';
import { typedEvent } from '../events/row.ts';
import type { JsonObject } from '../json.ts';
import { someRun } from './legal-history.kit.ts';
import { foldRun } from './run.ts';
import { newRunView, type RunView } from './run-view.ts';
import { taskFace } from './task-face.ts';

/** One event: its type, its payload, and how many ms it comes after the one before. */
export type Said = readonly [type: string, payload?: JsonObject | null, gapMs?: number];

export const START_AT = 1_700_000_000_000;

const eventsOf = (said: readonly Said[]): FoldEvent[] => {
  let at = START_AT;
  return said.map(([type, payload = {}, gapMs = 0], seq) => {
    at += gapMs;
    const nodeId = typeof payload?.nodeId === 'string' ? payload.nodeId : undefined;
    return typedEvent({ seq, at, type, payload, nodeId });
  });
};

/** The view after these events. */
export function viewAfter(...said: readonly Said[]): RunView {
  const view = newRunView(someRun);
  for (const event of eventsOf(said)) foldRun(view, event);
  return view;
}

/** Folds one more event into a view. */
export function foldSaid(view: RunView, said: Said): void {
  for (const event of eventsOf([said])) foldRun(view, { ...event, seq: view.lastSeq + 1, at: view.lastAt });
}

/** What each of these events shows as in the task view. */
/** The faces without the name of the host, which signs everything that no agent did. */
export const facesOf = (...said: readonly Said[]): (JsonObject | null)[] =>
  signedFacesOf(...said).map((face) => {
    if (face?.agentId !== 'core.system' || face.kind === 'input-received') return face;
    const { agentId: _, ...rest } = face;
    return rest;
  });

export function signedFacesOf(...said: readonly Said[]): (JsonObject | null)[] {
  const view = newRunView(someRun);
  return eventsOf(said).map((event) => {
    foldRun(view, event);
    return taskFace(view, event);
  });
}

export const started: Said = ['run.started', { workflowId: 'wf', owner: { tenant: 't', principal: 'ann' } }];
export const working: Said = ['cairn.task.status', { status: 'working' }];
export const nodeStarted = (nodeId: string, more: JsonObject = {}): Said => [
  'node.started',
  { nodeId, typeId: 'core.noop', attempt: 0, visit: 0, ...more },
];
/** A node asks and is suspended. */
export const asks = (nodeId: string, interruptId: string, more: JsonObject = {}): readonly Said[] => {
  const kind = more.kind ?? 'approval';
  const asked = { nodeId, interruptId, kind, key: `k:${interruptId}`, data: { title: 'Ship it?' }, ...more };
  return [
    ['interrupt.requested', asked],
    ['node.suspended', { nodeId, interruptId, kind }],
  ];
};
/** The question is answered and the node goes on. */
export const answered = (nodeId: string, interruptId: string, more: JsonObject = {}): readonly Said[] => [
  ['interrupt.resolved', { nodeId, interruptId, resolvedBy: 'ann', resumeValue: { action: 'accept' }, ...more }, 40],
  ['node.resumed', { nodeId, interruptId }],
];
