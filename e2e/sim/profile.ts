/** The faults of one world and their rates. Each seed disables some faults, so that the others get further. */
import type { Random } from '../../packages/host/test/kit/random.ts';

/** Probabilities, each per operation or per scheduler step. */
export interface Profile {
  /** A write waits until the scheduler releases it. Other writes may overtake it. */
  readonly heldWrite: number;
  readonly heldRead: number;
  /** The write is done, and the reply is delayed. */
  readonly lateReply: number;
  readonly failedWrite: number;
  readonly failedRead: number;
  /** The write is done, but the caller is told that it failed. */
  readonly lostReply: number;
  /** The caller is told that the write failed, but the write is made later. */
  readonly lateLanding: number;
  /** A commit with several held appends fails half-written: none is stored, and all callers are told. */
  readonly tornBatch: number;
  /** A node is notified of commits late. */
  readonly lateNotice: number;
  readonly crash: number;
  readonly stop: number;
  readonly diskFull: number;
  readonly cutOff: number;
  readonly clockJump: number;
  /** The scheduler's weight for clients, relative to pending work. */
  readonly clientWeight: number;
  readonly timeWeight: number;
  /** Number of runs that clients try to keep in progress. */
  readonly runs: number;
}

export function drawProfile(random: Random): Profile {
  const rate = (highest: number, off = 0.45): number => {
    const value = (random.below(1000) / 1000) * highest;
    return random.chance(off) ? 0 : value;
  };
  return {
    heldWrite: rate(0.9, 0.2),
    heldRead: rate(0.3, 0.6),
    lateReply: rate(0.3),
    failedWrite: rate(0.12),
    failedRead: rate(0.05, 0.6),
    lostReply: rate(0.12),
    lateLanding: rate(0.08, 0.6),
    tornBatch: rate(0.1, 0.6),
    lateNotice: rate(0.9),
    crash: rate(0.03, 0.3),
    stop: rate(0.01, 0.6),
    diskFull: rate(0.012, 0.6),
    cutOff: rate(0.02),
    clockJump: rate(0.02, 0.6),
    clientWeight: 0.3 + random.below(20) / 10,
    timeWeight: 0.3 + random.below(20) / 10,
    runs: random.between(1, 4),
  };
}

/** The fault-free phase at the end of a seed: no fault occurs, so a run that does not end was forgotten. */
export const kindProfile = (profile: Profile): Profile => ({
  ...profile,
  heldWrite: 0,
  heldRead: 0,
  lateReply: 0,
  failedWrite: 0,
  failedRead: 0,
  lostReply: 0,
  lateLanding: 0,
  tornBatch: 0,
  lateNotice: 0,
  crash: 0,
  stop: 0,
  diskFull: 0,
  cutOff: 0,
  clockJump: 0,
});
