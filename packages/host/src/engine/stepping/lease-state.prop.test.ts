import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  adoptClaim,
  appended,
  checkedRelatives,
  claimed,
  composing,
  type DurableAppend,
  dropped,
  givenBack,
  newLease,
  nothingToWrite,
} from './lease-state.ts';

/** An append under way: what it carries, and the store's answer once it has one. */
interface Append {
  /** The position it was decided for. */
  readonly at: number;
  readonly fence: number | null;
  readonly releases: boolean;
  readonly isFull: boolean;
  result: Omit<DurableAppend, 'isStale'> | 'refused' | 'overtaken' | null;
}

/** One run in a store that hands out leases as the queue does, another node, and the mailbox whose lease is tested. */
class World {
  readonly lease = newLease();
  /** What the store knows: the run's fence, who holds it, and whether calls are open that nobody of this lease asked for. */
  fence = 0;
  owner: 'us' | 'other' | null = null;
  hasForeignCalls = true;
  position = 0;
  append: Append | null = null;
  isStale = false;
  isDropped = false;
  /** The newest fence that this node was given and has not given back. */
  given: number | null = null;
  /** Fences that this node named in its appends, in order. */
  readonly named: number[] = [];
  /** Fences that this node gave back. */
  readonly returned = new Set<number>();
  checkedUnder: number | null = null;

  /** The scheduler claims the run, which is free or whose holder is gone. */
  claim(): void {
    if (this.owner === 'us') return;
    this.#take('us');
    claimed(this.lease, this.fence);
    this.isStale = true;
  }

  /** The other node takes the run: this one was silent for too long, and does not know it yet. */
  otherTakes(): void {
    if (this.owner === 'other') return;
    this.#take('other');
    this.hasForeignCalls = true;
    this.position += 1;
  }

  /** Somebody else wrote to the run, past its lease. */
  sawCommit(): void {
    this.isStale = true;
  }

  refresh(): void {
    if (this.append !== null) return;
    this.isStale = false;
    adoptClaim(this.lease);
  }

  checkRelatives(): void {
    if (this.append !== null || this.lease.fence === null) return;
    checkedRelatives(this.lease);
    this.checkedUnder = this.lease.fence;
  }

  /** Decides what to write, which is something at least while there are calls to deal with. */
  compose(batch: { readonly hasRows: boolean; readonly releases: boolean; readonly isFull: boolean }): void {
    if (this.append !== null || this.isStale) return;
    composing(this.lease, this.hasForeignCalls);
    if (!batch.hasRows && !this.lease.takenOver) {
      nothingToWrite(this.lease);
      return;
    }
    const { fence, takenOver } = this.lease;
    if (fence !== null) this.named.push(fence);
    const isFull = batch.isFull && takenOver;
    this.append = { at: this.position, fence, releases: batch.releases && !isFull, isFull, result: null };
  }

  /** The append reaches the store, which takes it or refuses it for its lease. */
  admit(): void {
    const { append } = this;
    if (append === null || append.result !== null) return;
    const { fence, releases, isFull } = append;
    const isHeld = this.owner === 'us' && fence === this.fence;
    // A claim in an append finds the run free, or held by this very node, whose fence stays.
    const mayClaim = fence === null && this.owner !== 'other';
    if (!isHeld && !mayClaim) {
      append.result = 'refused';
      return;
    }
    // What the other node asked for in between is nothing the append knew of: it is written at a position.
    if (append.at !== this.position) {
      append.result = 'overtaken';
      return;
    }
    this.position += 1;
    if (this.owner === null) this.#take('us');
    if (this.lease.takenOver && !isFull) this.hasForeignCalls = false;
    append.result = { fence: this.fence, releases, leavesTakeOver: isFull };
    if (releases) this.#giveBack(this.fence);
  }

  /** The store's answer arrives. */
  answer(): void {
    const result = this.append?.result ?? null;
    if (result === null) return;
    this.append = null;
    if (result === 'refused') {
      if (this.lease.claimed === null) this.drop();
      return;
    }
    if (result === 'overtaken') {
      this.isStale = true;
      return;
    }
    appended(this.lease, { ...result, isStale: this.isStale });
    if (this.isStale) this.checkedUnder = null;
  }

  /** The append failed before it reached the store. */
  fail(): void {
    if (this.append?.result === null) this.append = null;
  }

  giveBack(): void {
    if (this.append !== null || this.lease.claimed !== null) return;
    this.#giveBack(givenBack(this.lease));
  }

  /** The mailbox closes, or was refused for good. */
  drop(): void {
    if (this.append !== null) return;
    const { fence } = this.lease;
    this.#giveBack(dropped(this.lease));
    this.#giveBack(fence);
    this.isDropped = true;
  }

  #giveBack(fence: number | null): void {
    if (fence === null) return;
    this.returned.add(fence);
    if (this.owner === 'us' && fence === this.fence) this.#release();
  }

  #take(owner: 'us' | 'other'): void {
    this.fence += 1;
    this.owner = owner;
    this.given = owner === 'us' ? this.fence : null;
  }

  #release(): void {
    this.owner = null;
    this.given = null;
  }
}

const happenings: fc.Arbitrary<(world: World) => void> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ hasRows: fc.boolean(), releases: fc.boolean(), isFull: fc.boolean() })
      .map((batch) => (world: World) => world.compose(batch)),
  },
  ...(
    [
      [4, 'admit'],
      [4, 'answer'],
      [4, 'refresh'],
      [2, 'claim'],
      [1, 'otherTakes'],
      [1, 'sawCommit'],
      [2, 'checkRelatives'],
      [1, 'fail'],
      [1, 'giveBack'],
      [1, 'drop'],
    ] as const
  ).map(([weight, name]) => ({ weight, arbitrary: fc.constant((world: World) => world[name]()) })),
);

/** Whatever happens in whatever order, this is true after each of it. */
function always(invariant: (world: World) => void): void {
  fc.assert(
    fc.property(fc.array(happenings, { maxLength: 60, size: 'max' }), (events) => {
      const world = new World();
      for (const happen of events) {
        happen(world);
        invariant(world);
        if (world.isDropped) return;
      }
    }),
    { numRuns: 1_500 },
  );
}

test('a mailbox never names a fence older than one it named before, nor one it was not given', () => {
  always(({ named, fence }) => {
    const last = named.at(-1) ?? 0;
    expect(last).toBeLessThanOrEqual(fence);
    expect(named.at(-2) ?? 0).toBeLessThanOrEqual(last);
  });
});

test('a mailbox knows no lease that it gave back, and a claim only while it is newer than its lease', () => {
  always(({ lease, returned, append }) => {
    // Between the store's answer and its arrival the mailbox cannot know.
    if (append !== null) return;
    expect(returned.has(lease.fence ?? 0) || returned.has(lease.claimed ?? 0)).toBe(false);
    if (lease.claimed !== null) expect(lease.claimed).toBeGreaterThan(lease.fence ?? 0);
  });
});

test('a mailbox whose lease another node took writes nothing more under it', () => {
  always(({ append, owner, fence }) => {
    if (append?.result === null || append === null || typeof append.result === 'string') return;
    // What the store took was written under the lease of its moment, never under one that was taken over.
    expect(append.fence === null || append.fence === append.result.fence).toBe(true);
    if (owner === 'other') expect(append.result.fence).toBeLessThan(fence);
  });
});

test('a claim met while an append is under way is not lost: the mailbox holds every lease this node has, or is about to', () => {
  always(({ lease, given, append, isDropped }) => {
    if (given === null || isDropped) return;
    const result = append?.result ?? null;
    const isBeingTaken = result !== null && typeof result === 'object' && result.fence === given;
    expect(lease.fence === given || lease.claimed === given || isBeingTaken).toBe(true);
  });
});

test('a take-over stays set until what is done about it is durable', () => {
  always(({ lease, append, hasForeignCalls, owner, fence, isStale }) => {
    const isHolder = owner === 'us' && lease.fence === fence;
    if (isHolder && hasForeignCalls && !isStale && append === null) expect(lease.takenOver).toBe(true);
  });
});

test('relatives are checked anew under each lease', () => {
  always(({ lease, checkedUnder, isDropped }) => {
    if (lease.hasCheckedRelatives && !isDropped) expect(lease.fence).toBe(checkedUnder);
  });
});

test('a mailbox that let go names no lease, and leaves none behind that it never took up', () => {
  always(({ lease, isDropped, owner, fence }) => {
    if (!isDropped) return;
    expect([lease.fence, lease.claimed]).toEqual([null, null]);
    expect(owner === 'us' && fence > 0).toBe(false);
  });
});
