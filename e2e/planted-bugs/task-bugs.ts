/** Defects of the task view: contexts, faces, filters, artifacts, sign-ins. */
import type { PlantedBug } from './planted-bug.ts';

const tests = (path: string) => ({ kind: 'vitest', path }) as const;
const contextEvents = tests('packages/host/src/server/contexts/context-events.test.ts');
const contextReader = tests('packages/host/src/log/sqlite/contexts/context-reader.test.ts');
const checklist = tests('e2e/task-events/checklist.test.ts');

export const taskBugs: readonly PlantedBug[] = [
  {
    name: 'segment-begins-after-its-first-row',
    file: 'packages/host/src/log/sqlite/contexts/segments.ts',
    find: `this.#add.run(context, first.cursor, run, first.seq)`,
    replace: `this.#add.run(context, first.cursor + 1, run, first.seq + 1)`,
    suite: contextReader,
    why: 'Whenever a context goes on with another task, its readers miss an event.',
  },
  {
    name: 'context-goes-on-without-a-segment',
    file: 'packages/host/src/log/sqlite/contexts/segments.ts',
    find: `    if (this.#last.peek(context) === run) return;
`,
    replace: `    if (this.#last.peek(context) !== undefined) return;
`,
    suite: contextReader,
    why: 'Readers of a context see its first task and none of those after it.',
  },
  {
    name: 'pages-skip-the-filter',
    file: 'packages/host/src/server/contexts/context-events.ts',
    find: `      if (shownKind(filter, row) === null) continue;
`,
    replace: `      if (row.task === null) continue;
`,
    suite: contextEvents,
    why: 'A client that polls is shown what the stream hides from it.',
  },
  {
    name: 'filter-forgets-operators',
    file: 'packages/host/src/log/tasks/task-filter.ts',
    find: `  if (kind === null || (isForOperators(face) && !filter.debug)) return null;
`,
    replace: `  if (kind === null) return null;
`,
    suite: contextEvents,
    why: 'Internal events and private thoughts reach every client.',
  },
  {
    name: 'context-of-another-tenant-is-visible',
    file: 'packages/host/src/server/contexts/context-params.ts',
    find: `(await log.contextTenant(contextId)) !== tenant`,
    replace: `(await log.contextTenant(contextId)) === null`,
    suite: contextEvents,
    why: 'Who knows the id of a context reads the conversation of another tenant.',
  },
  {
    name: 'late-joiner-misses-the-beginning',
    file: 'packages/host/src/server/contexts/context-events.ts',
    find: `  return first === undefined ? head : first.cursor - 1;
`,
    replace: `  return first === undefined ? head : first.cursor;
`,
    suite: contextEvents,
    why: 'A page that opens in the middle of a turn does not show the message that began it.',
  },
  {
    name: 'second-message-does-not-wait',
    file: 'packages/host/src/server/contexts/turns.ts',
    find: `    if (active !== null || first === undefined) return;
`,
    replace: `    if (first === undefined) return;
`,
    suite: tests('packages/host/src/server/contexts/messages.test.ts'),
    why: 'Two turns of a conversation run at the same time, and the second does not know the first.',
  },
  {
    name: 'status-is-written-again-when-a-node-resumes',
    file: 'packages/protocol/src/views/task-face.ts',
    find: `    case 'node.resumed':
      return view.taskStatusSeq === event.seq ? statusFace(view) : null;
`,
    replace: `    case 'node.resumed':
      return statusFace(view);
`,
    suite: tests('packages/protocol/src/views/task-face.prop.test.ts'),
    why: 'A user interface is told twice that a task works, and counts a wait that was none.',
  },
  {
    name: 'call-of-a-cancelled-tool-stays-open',
    file: 'packages/protocol/src/views/task-face.ts',
    find: `    case 'node.skipped':
    case 'node.cancelled':
`,
    replace: `    case 'node.skipped':
`,
    suite: tests('packages/protocol/src/views/task-face.prop.test.ts'),
    why: 'The card of a cancelled call spins for ever.',
  },
  {
    name: 'version-of-an-artifact-is-not-bumped',
    file: 'packages/host/src/log/artifact-changes.ts',
    find: `  return (newest?.version ?? 0) + 1;
`,
    replace: `  return newest?.version ?? 1;
`,
    suite: tests('packages/host/src/log/in-memory/store.test.ts'),
    why: 'A second write replaces what readers hold under the same version.',
  },
  {
    name: 'anybody-completes-a-sign-in',
    file: 'packages/host/src/server/sign-ins/open-sign-in.ts',
    find: `  if ((call.caller.principal ?? null) !== (view.owner?.principal ?? null)) throw notYours(authId);
`,
    replace: '',
    suite: checklist,
    why: 'A colleague gives a tool of somebody else a credential of their own.',
  },
  {
    name: 'reducer-takes-an-event-twice',
    file: 'packages/client/src/context/conversation/reduce.ts',
    find: `    else if (event.cursor > draft.state.cursor) fold(draft, event);
`,
    replace: `    else if (event.cursor > 0) fold(draft, event);
`,
    suite: tests('packages/client/src/context/conversation/reduce.prop.test.ts'),
    why: 'After a reconnect the user reads the same words twice.',
  },
];
