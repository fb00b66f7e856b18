/** What holds for the task events of every context, whatever happened to its host. Pure; the tests break each rule. */
import { type TaskEvent, taskEvent } from '@cairn/protocol';
import type { Breach, Complain } from '../crash/breach.ts';

/** Checks all events of a context, in the order of their cursors. `hasEnded`: every task of it must be over. */
export function auditContext(events: readonly TaskEvent[], { hasEnded = true } = {}): readonly Breach[] {
  const breaches: Breach[] = [];
  const complain: Complain = (promise, facts) => breaches.push({ promise, facts });
  checkEnvelopes(events, complain);
  for (const [taskId, own] of Map.groupBy(events, (event) => event.taskId)) {
    const say: Complain = (promise, facts) => complain(promise, { taskId, ...facts });
    checkLife(own, hasEnded, say);
    checkStatuses(own, say);
    checkContent(own, say);
    checkTools(own, hasEnded, say);
    checkAnswers(own, say);
  }
  checkArtifacts(events, complain);
  checkParents(events, complain);
  return breaches;
}

function checkEnvelopes(events: readonly TaskEvent[], complain: Complain): void {
  let last = 0;
  const ids = new Set<string>();
  for (const event of events) {
    const { cursor, eventId } = event;
    if (cursor <= last) complain('cursors increase', { cursor, last });
    if (ids.has(eventId)) complain('an event comes once', { eventId });
    last = cursor;
    ids.add(eventId);
    const { error } = taskEvent.safeParse(event);
    if (error !== undefined) complain('every event is one that the protocol defines', { event, issues: error.issues });
  }
}

export const isEnd = (event: TaskEvent): boolean =>
  event.kind === 'task-complete' ||
  (event.kind === 'task-status' && (event.status === 'failed' || event.status === 'canceled'));

function checkLife(events: readonly TaskEvent[], hasEnded: boolean, complain: Complain): void {
  const created = events.filter(({ kind }) => kind === 'task-created');
  if (created.length !== 1 || events[0]?.kind !== 'task-created')
    complain('a task begins with its one task-created', { first: events[0], created: created.length });
  const ends = events.filter(isEnd);
  if (ends.length > 1 || (hasEnded && ends.length === 0)) complain('a task has one end', { ends });
  if (ends.length > 0 && ends[0] !== events.at(-1)) complain('nothing follows the end', { last: events.at(-1) });
  const place = events.findIndex(({ kind }) => kind === 'task-complete');
  const before = events[place - 1];
  if (place !== -1 && !(before?.kind === 'task-status' && before.status === 'completed'))
    complain('task-complete follows the status completed', { before });
}

function checkStatuses(events: readonly TaskEvent[], complain: Complain): void {
  let last: string | null = null;
  for (const event of events) {
    if (event.kind !== 'task-status') continue;
    const { status, metadata } = event;
    // A pause, a handoff or a restart repeats the status and says why. Waiting for another one is another status.
    if (status === last && metadata?.reason === undefined && !status.startsWith('waiting-'))
      complain('no status comes twice in a row', { event });
    if (status.startsWith('waiting-') && (metadata?.pending ?? []).length === 0)
      complain('a waiting status lists what the task waits for', { event });
    last = status;
  }
}

function checkContent(events: readonly TaskEvent[], complain: Complain): void {
  const texts = new Map<string | undefined, { text: string; next: number }>();
  for (const event of events) {
    if (event.kind === 'content-delta') {
      // A block that begins again belongs to another attempt; clients discard what the first one said.
      const block = event.index === 0 ? { text: '', next: 0 } : (texts.get(event.contentId) ?? { text: '', next: 0 });
      if (event.index !== block.next) complain('deltas of a block have dense indexes', { event, expected: block.next });
      texts.set(event.contentId, { text: block.text + event.delta, next: event.index + 1 });
    }
    if (event.kind !== 'content-complete') continue;
    const said = texts.get(event.contentId);
    if (said !== undefined && said.text !== event.content)
      complain('deltas join to the content', { event, said: said.text });
    texts.delete(event.contentId);
  }
}

function checkTools(events: readonly TaskEvent[], hasEnded: boolean, complain: Complain): void {
  const open = new Map<string, { attempt: number; progress: number }>();
  const seen = new Set<string>();
  for (const event of events) {
    if (event.kind === 'tool-start') {
      const attempt = event.metadata?.attempt ?? 1;
      if (seen.has(event.toolCallId) && attempt === 1) complain('a call starts once', { event });
      seen.add(event.toolCallId);
      open.set(event.toolCallId, { attempt, progress: 0 });
    }
    if (event.kind === 'tool-progress') {
      const last = open.get(event.toolCallId);
      if (last === undefined) complain('only an open call makes progress', { event });
      else {
        // A call that is entered again begins anew, and says so.
        const attempt = Number(event.metadata?.attempt ?? 1);
        if (attempt === last.attempt && event.progress < last.progress)
          complain('progress never decreases in an attempt', { event, last: last.progress });
        open.set(event.toolCallId, { attempt, progress: event.progress });
      }
    }
    if (event.kind === 'tool-complete' && !open.delete(event.toolCallId))
      complain('a call that started completes once', { event });
  }
  if (hasEnded && open.size > 0) complain('every call completes', { open: [...open.keys()] });
}

function checkAnswers(events: readonly TaskEvent[], complain: Complain): void {
  const asked = new Set<string>();
  for (const event of events) {
    if (event.kind === 'input-required') asked.add(event.inputId);
    if (event.kind === 'auth-required') asked.add(event.authId);
    if (event.kind === 'input-received' && !asked.delete(event.inputId))
      complain('a question is answered once, after it was asked', { event });
    if (event.kind === 'input-received' && (event.userId === undefined) === (event.agentId === undefined))
      complain('an answer names a user or an agent, and not both', { event });
    if (event.kind === 'auth-completed' && !asked.delete(event.authId))
      complain('a sign-in completes once, after it was asked for', { event });
  }
}

interface OpenPieces {
  readonly taskId: string;
  readonly next: number;
}

function checkArtifacts(events: readonly TaskEvent[], complain: Complain): void {
  const open = new Map<string, OpenPieces>();
  const versions = new Map<string, number>();
  for (const event of events) {
    if (event.kind === 'data-write') {
      checkVersion(event.artifactId, event.metadata?.version, 'complete');
      continue;
    }
    if (event.kind !== 'file-write' && event.kind !== 'dataset-write') continue;
    const { artifactId, index, complete, taskId, metadata } = event;
    const pieces = open.get(artifactId);
    if (index !== 0 && (pieces?.next !== index || pieces.taskId !== taskId))
      complain('pieces of an artifact are contiguous from 0', { event, expected: pieces?.next ?? 0 });
    const described = [event.name, event.description, 'mimeType' in event ? event.mimeType : undefined];
    if (index > 0 && described.some((one) => one !== undefined)) complain('only piece 0 is described', { event });
    if (index === 0) checkVersion(artifactId, metadata?.version, 'open');
    if (complete) open.delete(artifactId);
    else open.set(artifactId, { taskId, next: index + 1 });
  }

  /** A version that was abandoned leaves a hole; the versions of a record have none. */
  function checkVersion(artifactId: string, version: unknown, how: 'open' | 'complete'): void {
    const last = versions.get(artifactId) ?? 0;
    if (typeof version !== 'number' || (how === 'complete' ? version !== last + 1 : version <= last))
      complain('a version is one more than the last', { artifactId, version, last });
    else versions.set(artifactId, version);
  }
}

function checkParents(events: readonly TaskEvent[], complain: Complain): void {
  const created = new Set<string>();
  for (const event of events) {
    if (event.kind === 'subtask-created') created.add(event.subtaskId);
    if (event.kind !== 'task-created' || event.parentTaskId === undefined) continue;
    if (!created.has(event.taskId)) complain('subtask-created of the parent comes before the subtask', { event });
    if (event.initiator !== 'agent') complain('an agent starts a subtask', { event });
  }
  for (const event of events)
    if (created.has(event.taskId) && event.parentTaskId === undefined)
      complain('every event of a subtask names its parent', { event });
}
