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
    find: `    if (last === run) return;
`,
    replace: `    if (last !== undefined) return;
`,
    suite: contextReader,
    why: 'Readers of a context see its first task and none of those after it.',
  },
  {
    name: 'pages-skip-the-filter',
    file: 'packages/host/src/server/contexts/context-events.ts',
    find: `      const textOf = shownKind(filter, row) !== null ? taskEventText`,
    replace: `      const textOf = row.task !== null ? taskEventText`,
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
    find: `  if ((await contexts.tenant(contextId)) !== caller.tenant) throw`,
    replace: `  if ((await contexts.tenant(contextId)) === null) throw`,
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
    find: `    if (active !== null) return;
`,
    replace: '',
    suite: tests('packages/host/src/server/contexts/messages.test.ts'),
    why: 'Two turns of a conversation run at the same time, and the second does not know the first.',
  },
  {
    name: 'retry-starts-its-call-again',
    file: 'packages/protocol/src/views/task-face.ts',
    find: `  if (node === undefined || node.visitSeq !== event.seq) return null;
`,
    replace: `  if (node === undefined) return null;
`,
    suite: tests('packages/protocol/src/views/task-face.test.ts'),
    why: 'A user interface shows a card for each attempt of a call, and all but one spin for ever.',
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
    find: `  return Math.max(newest?.version ?? 0, earlierVersion) + 1;
`,
    replace: `  return Math.max(newest?.version ?? 1, earlierVersion);
`,
    suite: tests('packages/host/src/log/in-memory/store.test.ts'),
    why: 'A second write replaces what readers hold under the same version.',
  },
  {
    name: 'sign-in-is-answered-like-a-question',
    file: 'packages/host/src/engine/core/answers/answers.ts',
    find: `  if (isHostSignIn(interrupt) && !completesSignIn) throw onlyBySigningIn(interruptId);
`,
    replace: '',
    suite: checklist,
    why: 'An agent or a colleague gives a tool a credential of their choice.',
  },
  {
    name: 'anybody-answers-for-the-user',
    file: 'packages/host/src/engine/core/answers/answers.ts',
    find: `  if (requiresUser(interrupt)) refuseOthers(run.state, interrupt, request);
`,
    replace: '',
    suite: checklist,
    why: 'A question that only the user may answer takes the answer of an agent or of a colleague.',
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
