/** The defects, each beside the suite that must notice it. `docs/planted-bugs.md` is this list for readers. */
import type { PlantedBug } from './planted-bug.ts';
import { taskBugs } from './task-bugs.ts';

const memoryContracts = { kind: 'vitest', path: 'packages/host/src/log/in-memory/store.test.ts' } as const;
const channels = { kind: 'vitest', path: 'packages/protocol/src/views/channels.test.ts' } as const;
const simulation = { kind: 'sim', seeds: '1..150' } as const;

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'sqlite-acknowledges-before-commit',
    file: 'packages/host/src/log/sqlite/commit/job.ts',
    find: `  job.result = work.apply();
`,
    replace: `  job.result = work.apply();
  job.resolve(job.result);
`,
    suite: { kind: 'vitest', path: 'packages/host/src/log/sqlite/full-disk.test.ts' },
    why: 'A caller is told that its rows are durable while the commit can still fail.',
  },
  {
    name: 'many-rows-are-told-before-they-are-flushed',
    file: 'packages/host/src/log/sqlite/commit/group-commit.ts',
    find: `    if (isInPool) this.#flushInPool(jobs);
    else this.#acknowledge(jobs);
`,
    replace: `    this.#acknowledge(jobs);
`,
    suite: { kind: 'vitest', path: 'packages/host/src/log/sqlite/commit/flush.test.ts' },
    why: 'Under load everybody is told of rows that a power cut takes away.',
  },
  {
    name: 'read-does-not-wait-for-the-flush',
    file: 'packages/host/src/log/sqlite/commit/group-commit.ts',
    find: `    if (this.#unflushed === null) return query();
`,
    replace: `    if (this.#unflushed !== undefined) return query();
`,
    suite: { kind: 'vitest', path: 'packages/host/src/log/sqlite/commit/flush.test.ts' },
    why: 'A client is shown an event that a power cut takes away.',
  },
  {
    name: 'engine-acknowledges-before-commit',
    file: 'packages/host/src/engine/stepping/mailbox.ts',
    find: `        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
`,
    replace: `      for (const fact of batch.facts) fact.recorded(run.state);
        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
`,
    suite: simulation,
    why: 'A client is told that its run or answer is recorded before it is.',
  },
  {
    name: 'fence-is-not-checked',
    file: 'packages/host/src/log/admit.ts',
    find: `  if (fence !== undefined && (fence !== head.fence || head.owner === null)) {`,
    replace: `  if (fence !== undefined && fence < 0) {`,
    suite: simulation,
    why: 'A node that lost its lease goes on writing the run another node steps.',
  },
  {
    name: 'lease-is-taken-from-a-living-node',
    file: 'packages/host/src/log/admit.ts',
    find: `  if (head.owner !== null && guards.isAlive(head.owner, claim.now)) {`,
    replace: `  if (head.owner !== null && !guards.isAlive(head.owner, claim.now)) {`,
    suite: simulation,
    why: 'Two nodes step one run at the same time.',
  },
  {
    name: 'position-of-a-decision-is-not-checked',
    file: 'packages/host/src/log/admit.ts',
    find: `  if (append.at !== undefined && append.at !== head.seq + 1) throw wrongPosition(append, head);
`,
    replace: '',
    suite: simulation,
    why: 'What was decided on an old state is written after a newer one.',
  },
  {
    name: 'append-after-the-end-is-allowed',
    file: 'packages/host/src/log/admit.ts',
    find: `  if (head.record.endedAt !== null) {
    throw new TerminalError('run_terminal', {`,
    replace: `  if (head.record.endedAt === -1) {
    throw new TerminalError('run_terminal', {`,
    suite: memoryContracts,
    why: 'The terminal event is no longer the last, and streams that closed after it miss what follows.',
  },
  {
    name: 'answer-is-accepted-twice',
    file: 'packages/host/src/log/admit.ts',
    find: `  if (answers !== undefined && !head.open.has(answers)) throw notOpen(runId, answers, guards);
`,
    replace: '',
    suite: memoryContracts,
    why: 'Two people answer one question at two nodes and both are told that theirs counts.',
  },
  {
    name: 'wake-is-dropped-when-the-lease-goes-back',
    file: 'packages/host/src/log/admit.ts',
    find: `{ ...head, owner: null, wakeAt: earlier(head.wakeAt, wakeAt) }`,
    replace: `{ ...head, owner: null, wakeAt }`,
    suite: memoryContracts,
    why: 'An answer that arrives while the run is held wakes nobody: the run sleeps for ever.',
  },
  {
    name: 'hash-ignores-the-audience',
    file: 'packages/host/src/log/chain.ts',
    find: `const { seq, at, type, nodeId, cause, audience, payload } = row;`,
    replace: `const { seq, at, type, nodeId, cause, payload } = row;
  const audience = 'client';`,
    suite: simulation,
    why: 'An operator row can be turned into a client row without breaking the chain.',
  },
  {
    name: 'reader-resumes-one-too-late',
    file: 'packages/host/src/log/feed/row-source.ts',
    find: `    this.after = 'runId' in range ? range.after : range.afterCursor;
`,
    replace: `    this.after = 'runId' in range ? range.after + 1 : range.afterCursor;
`,
    suite: { kind: 'vitest', path: 'packages/host/src/log/feed/feed.test.ts' },
    why: 'A client that reconnects with its last id misses the next event.',
  },
  {
    name: 'end-of-a-run-is-held-back',
    file: 'packages/host/src/log/feed/feed.ts',
    find: `!commit.rows.some(isWaitedFor) && this.#holds(followed)) return;`,
    replace: `this.#holds(followed)) return;`,
    suite: { kind: 'vitest', path: 'packages/host/src/log/feed/feed-pace.test.ts' },
    why: 'On a busy host a client learns later than it must that its run ended or asks for something.',
  },
  {
    name: 'client-yields-an-event-twice',
    file: 'packages/client/src/follow.ts',
    find: `      if (event.sequence <= last) continue;
`,
    replace: `      if (event.sequence < last) continue;
`,
    suite: { kind: 'vitest', path: 'packages/client/src/follow.test.ts' },
    why: 'A reader that reconnects sees its last event again.',
  },
  {
    name: 'takeover-does-not-look-at-open-calls',
    file: 'packages/host/src/engine/stepping/lease-state.ts',
    find: `  lease.takenOver = true;
`,
    replace: `  lease.takenOver = false;
`,
    suite: simulation,
    why: "The new holder starts the dead one's attempt once more instead of asking for the next, a write included.",
  },
  {
    name: 'effect-starts-before-its-request-is-durable',
    file: 'packages/host/src/engine/stepping/mailbox.ts',
    find: `        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
`,
    replace: `      for (const { callId } of batch.effects) run.attempts.start(run.state, run.state.calls.get(callId)!);
        const written = await held.append<Written>(run, batch, (error) => this.#refused(batch, error));
`,
    suite: simulation,
    why: 'A crash after the call and before the commit leaves an effect that nothing in the log asked for.',
  },
  {
    name: 'interrupted-write-runs-again-unasked',
    file: 'packages/host/src/engine/core/control/recover.ts',
    find: `const isRepeatable = ({ safety, recoveries }: OpenCall): boolean => safety !== 'write' && recoveries < MAX_RECOVERIES;
`,
    replace: `const isRepeatable = ({ recoveries }: OpenCall): boolean => recoveries < MAX_RECOVERIES;
`,
    suite: simulation,
    why: 'A payment whose outcome is unknown is made again without anybody having said so.',
  },
  {
    name: 'cause-is-off-by-one',
    file: 'packages/host/src/engine/core/facts.ts',
    find: `[stepReturned(open, ended, open.requestedSeq)]`,
    replace: `[stepReturned(open, ended, open.requestedSeq + 1)]`,
    suite: simulation,
    why: 'A result names itself, or an unrelated event, as its cause.',
  },
  {
    name: 'paused-run-goes-on',
    file: 'packages/host/src/engine/core/decide.ts',
    find: `  if (state.pause !== null) return pauseRun(state, workflow, state.pause);
`,
    replace: `  if (state.pause?.pausedAt === null) return pauseRun(state, workflow, state.pause);
`,
    suite: simulation,
    why: 'A run that an operator has paused starts its next node.',
  },
  {
    name: 'lost-answer-counts-as-a-failure',
    file: 'packages/host/src/engine/stepping/append-batch.ts',
    find: `  return (fact) => fact.internal || (isKeyTaken && fact.idempotencyRecord === undefined);
`,
    replace: `  return (fact) => fact.internal || !isKeyTaken || fact.idempotencyRecord === undefined;
`,
    suite: simulation,
    why: 'An answer whose acknowledgement was lost is sent again, and its sender is told that another was quicker.',
  },
  {
    name: 'words-of-a-call-change-places',
    file: 'packages/host/src/engine/stepping/mailbox.ts',
    find: `    this.#facts.unshift(...batch.facts.filter(isRetried));
`,
    replace: `    this.#facts.push(...batch.facts.filter(isRetried));
`,
    suite: { kind: 'vitest', path: 'packages/host/src/engine/stepping/unwritable.test.ts' },
    why: 'A store that fails once turns around what a model says, and loses what came before its end.',
  },
  {
    name: 'start-of-a-child-that-failed-counts-as-refusal',
    file: 'packages/host/src/engine/family/child-performer.ts',
    find: `isCairnError(error) && (error.retryable || error.code === 'conflict');`,
    replace: `isCairnError(error, 'conflict');`,
    suite: simulation,
    why: 'A store that fails while a child is made leaves a run that nobody waits for and nobody ends.',
  },
  {
    name: 'new-child-does-not-look-above',
    file: 'packages/host/src/engine/stepping/mailbox.ts',
    find: `        if (isIdle && !held.needsRefresh(durable) && held.isSeenTo(durable)) return;
`,
    replace: `        if (isIdle && !held.isStale && held.isSeenTo(durable)) return;
`,
    suite: { kind: 'vitest', path: 'packages/host/src/engine/family/child-start.test.ts' },
    why: 'A child that is made a moment after its node has ended waits for a person for ever.',
  },
  {
    name: 'harvest-names-the-end-of-another',
    file: 'packages/host/src/engine/nodes/dispatch-workers.ts',
    find: `{ cause: worker.toldSeq ?? seq, seq, changed }`,
    replace: `{ cause: context.state.nextSeq - 1, seq, changed }`,
    suite: simulation,
    why: 'What a worker gave back is shown as the work of another.',
  },
  {
    name: 'wake-of-relatives-is-dropped',
    file: 'packages/host/src/engine/stepping/append-batch.ts',
    find: `    wakes: relatives.map((relative) => ({ runId: relative, at: now })),
`,
    replace: '',
    suite: simulation,
    why: 'A host that dies as a child ends leaves its parent waiting for ever.',
  },
  {
    name: 'children-of-a-node-that-ended-live-on',
    file: 'packages/host/src/engine/core/evolve/attempts.ts',
    find: `  if (!state.orphans.includes(child)) state.orphans.push(child);
`,
    replace: '',
    suite: { kind: 'vitest', path: 'packages/host/src/engine/nodes/sub-workflow.test.ts' },
    why: 'Workers nobody waits for any more go on and spend.',
  },
  {
    name: 'interrupted-call-of-an-agent-is-forgotten',
    file: 'packages/host/src/engine/core/evolve/attempts.ts',
    find: `    state.pending.push({ kind: 'cut-short', nodeId, seq, call });
`,
    replace: '',
    suite: simulation,
    why: 'An agent whose turn was cut short by a pause never goes on.',
  },
  {
    name: 'late-words-of-a-dead-attempt-count',
    file: 'packages/host/src/engine/core/driven.ts',
    find: `  call !== undefined && call.attempt === attempt && call.asked === undefined && !state.ended;`,
    replace: `  call !== undefined && call.asked === undefined && !state.ended;`,
    suite: { kind: 'vitest', path: 'packages/host/src/engine/core/driven.test.ts' },
    why: 'What a provider still sends to an attempt that was given up is taken for the new one.',
  },
  {
    name: 'fold-forgets-skipped-nodes',
    file: 'packages/protocol/src/views/run.ts',
    find: `    case 'node.skipped':
      leaveNode(view, event.nodeId ?? event.payload.nodeId, { end: 'skipped', at: event.at });
      break;
`,
    replace: '',
    suite: { kind: 'vitest', path: 'packages/protocol/src/views/run.test.ts' },
    why: 'A snapshot shows a skipped node as one that never was.',
  },
  {
    name: 'message-is-delivered-twice',
    file: 'packages/protocol/src/views/channels.ts',
    find: `    if (own(channel.ids, id) !== undefined) return;
`,
    replace: '',
    suite: channels,
    why: 'A message that is sent again after a lost answer stands twice in its channel.',
  },
  {
    name: 'old-entries-are-not-pruned',
    file: 'packages/protocol/src/views/channels.ts',
    find: `  if (ttlMs !== null) while (drop < list.length - 1 && at - writtenAt(list[drop]) > ttlMs) drop += 1;
`,
    replace: '',
    suite: channels,
    why: 'A channel with a time to live grows for ever and shows what should be gone.',
  },
  ...taskBugs,
];
