import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { Append } from '../../packages/host/src/log/ports/event-log.ts';
import { Complaints } from './breach.ts';
import { LeaseWatch } from './lease-watch.ts';

const runId = 'run_1' as RunId;
const row = { at: 1, type: 'node.started', audience: 'client', payload: '{}', task: null } as const;
const append = (more: Partial<Append> = {}): Append => ({ runId, rows: [row], ...more });

function watch() {
  const complaints = new Complaints();
  const leases = new LeaseWatch(
    complaints.complain,
    () => undefined,
    () => false,
  );
  return { leases, broken: () => complaints.first?.invariant ?? null };
}

test('accepts the holder who writes under the current fence', () => {
  const { leases, broken } = watch();
  leases.claimed({ owner: 'a', now: 0, until: 10 }, [{ runId, fence: 1 }]);
  leases.appended(append({ fence: 1 }), { seq: 1, cursor: 1, fence: 1 });
  expect(broken()).toBeNull();
  expect(leases.holder(runId)).toBe('a');
});

test('notices an old fence that was let through', () => {
  const { leases, broken } = watch();
  leases.claimed({ owner: 'a', now: 0, until: 10 }, [{ runId, fence: 1 }]);
  leases.claimed({ owner: 'b', now: 20, until: 30 }, [{ runId, fence: 2 }]);
  leases.appended(append({ fence: 1 }), { seq: 1, cursor: 1, fence: 2 });
  expect(broken()).toBe('a writer without the lease is refused');
});

test('notices a lease taken while its holder lives', () => {
  const { leases, broken } = watch();
  leases.claimed({ owner: 'a', now: 0, until: 10 }, [{ runId, fence: 1 }]);
  leases.renewed('a', 50);
  leases.claimed({ owner: 'b', now: 20, until: 60 }, [{ runId, fence: 2 }]);
  expect(broken()).toBe('a lease that lives is not taken');
});

test('notices a fence that does not grow', () => {
  const { leases, broken } = watch();
  leases.claimed({ owner: 'a', now: 0, until: 10 }, [{ runId, fence: 1 }]);
  leases.released(runId, 1);
  leases.claimed({ owner: 'b', now: 1, until: 11 }, [{ runId, fence: 1 }]);
  expect(broken()).toBe('each new lease has a greater fence');
});

test('notices a decision that was put somewhere else', () => {
  const { leases, broken } = watch();
  leases.appended(append({ at: 3 }), { seq: 4, cursor: 9, fence: 0 });
  expect(broken()).toBe('a decision stands where it was expected');
});

test('lets go of the lease with a rest, a release and the end of the run', () => {
  const { leases, broken } = watch();
  leases.claimed({ owner: 'a', now: 0, until: 10 }, [{ runId, fence: 1 }]);
  leases.appended(append({ fence: 1, rest: { wakeAt: null } }), { seq: 1, cursor: 1, fence: 1 });
  expect(leases.holder(runId)).toBeNull();
  leases.claimed({ owner: 'b', now: 1, until: 11 }, [{ runId, fence: 2 }]);
  leases.appended(append({ fence: 2, rows: [{ ...row, type: 'run.completed' }] }), { seq: 2, cursor: 2, fence: 2 });
  expect(leases.holder(runId)).toBeNull();
  expect(broken()).toBeNull();
});
