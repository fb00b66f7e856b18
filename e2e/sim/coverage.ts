/** Counts each interesting event, so that the simulation cannot silently stop exploring it. */

/** Each of these must occur at least once in the seeds of the test command. */
export const interesting = [
  // the store
  'write held',
  'write failed',
  'write torn',
  'reply lost',
  'write arrived after its caller was told that it failed',
  'reply late',
  'read failed',
  'notice late',
  'disk full',
  'node cut off',
  'decision lost a conflict',
  'write refused for its lease',
  // nodes
  'node crashed',
  'node restarted',
  'node stopped in order',
  'crash while writes were under way',
  'write landed after the crash of its node',
  'clock jumped back',
  'clock jumped ahead',
  'lease taken over',
  'lease taken over from a node that lives',
  // effects
  'step asked for again',
  'step entered by a node that lost the lease',
  'step returned after its node lost the lease',
  'interrupted write left to a human',
  'human let a write run again',
  'step returned an error',
  'call emitted',
  'child started',
  'child told of',
  'child cancelled with its parent',
  'child cancelled before its parent',
  'run two below another',
  'supervisor decided',
  'supervisor asked the user',
  'unsure decision held',
  'worker sent out',
  'worker refused',
  'worker failed',
  'worker cancelled',
  'worker gave something back',
  'question put to an agent above',
  'agent above asked again',
  'agent above answered',
  'question forwarded to people',
  'driven call asked for again',
  'driven call cut short by a pause',
  'step aborted',
  'node retried',
  'node timed out',
  // time
  'delay fired',
  'timer fired late',
  'interrupt expired',
  'run timed out',
  // clients
  'answer accepted',
  'answer refused: wrong value',
  'answer refused: already given',
  'answer refused: too late',
  'answer outcome unknown',
  'answer given twice at once',
  'cancel while suspended',
  'cancel while a step runs',
  'run paused',
  'pause waits for a step',
  'pause cut a step short',
  'draining pause hurried',
  'pause refused',
  'run resumed',
  'resume refused',
  'answer while paused',
  'cancel while paused',
  'start repeated with the same key',
  'snapshot compared',
  'stream resumed',
  'stream stalled',
  'stream ended',
  // forks
  'run branched',
  'run replayed',
  'run retried',
  'tree forked',
  'fork refused',
  // graphs
  'node skipped',
  'loop turned',
  'back edge limit',
  'execution limit',
  'branch survived a failure',
  'two interrupts open at once',
  'run completed',
  'run failed',
  'run cancelled',
] as const;

export type Interesting = (typeof interesting)[number];

export type Coverage = Record<Interesting, number>;

export const newCoverage = (): Coverage =>
  Object.fromEntries(interesting.map((name) => [name, 0])) as Record<Interesting, number>;

export function addCoverage(total: Coverage, more: Coverage): void {
  for (const name of interesting) total[name] += more[name];
}
