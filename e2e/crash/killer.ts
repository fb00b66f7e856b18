/** Chooses when to kill the host: under load, during startup, during a checkpoint, during shutdown. */
import { watch } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../packages/host/test/kit/random.ts';
import { LEASE_MS, onDatabase, type StoreSettings } from '../campaign-store.ts';
import type { HostProcess } from './host-process.ts';

export const moments = ['load', 'start', 'checkpoint', 'stop'] as const;
export type Moment = (typeof moments)[number];

/** Relative probability of each moment. */
const weights: Readonly<Record<Moment, number>> = { load: 6, start: 2, checkpoint: 2, stop: 1 };

/** Maximum wait for a checkpoint. */
const CHECKPOINT_WITHIN_MS = 4_000;

export const nextMoment = (random: Random): Moment => random.weighted(weights) ?? 'load';

export interface Death {
  readonly moment: Moment;
  /** Whether the kill hit its intended moment. */
  readonly hit: boolean;
}

/** Kills the serving host, then restarts it until it serves. */
export async function killAndRevive(
  host: HostProcess,
  moment: Moment,
  random: Random,
  signal: AbortSignal,
): Promise<Death> {
  let hit = true;
  if (moment === 'load') await pause(random.between(10, mostLoadMs(host.settings)), undefined, { signal });
  if (moment === 'checkpoint') {
    hit = await checkpointBegan(host.settings, signal);
    await pause(random.between(0, 12), undefined, { signal });
  }
  if (moment === 'stop') {
    const stopping = host.stop();
    await pause(random.between(0, 40), undefined, { signal });
    await Promise.all([host.kill(), stopping]);
  } else {
    await host.kill();
  }
  if (moment === 'start') hit = await dieWhileStarting(host, random, signal);
  await revive(host);
  return { moment, hit };
}

/** The longest time under load. On Postgres, the runs of the host before go on only when its lease is over. */
const mostLoadMs = ({ store }: StoreSettings): number => (store === undefined ? 600 : 600 + LEASE_MS);

/** A start takes a large part of a second. The kill falls anywhere in it. */
async function dieWhileStarting(host: HostProcess, random: Random, signal: AbortSignal): Promise<boolean> {
  const birth = host.start();
  await pause(random.between(50, 900), undefined, { signal });
  await host.kill();
  return (await birth).kind === 'died';
}

async function revive(host: HostProcess): Promise<void> {
  const birth = await host.start();
  if (birth.kind !== 'ready')
    throw new HostLost(birth.kind === 'failed' ? `${birth.code}: ${birth.message}` : birth.how);
}

/** The host did not restart, so nothing else can be checked. */
export class HostLost extends Error {
  override readonly name = 'HostLost';
}

/** A checkpoint of Postgres writes pages, too; it begins when it is asked for. */
async function checkpointBegan({ folder, store }: StoreSettings, signal: AbortSignal): Promise<boolean> {
  if (store === undefined) return databaseWritten(folder, signal);
  await onDatabase(store, (database) => database.changed('CHECKPOINT'));
  return true;
}

/**
 * Between checkpoints only the write-ahead log grows, so a write to the database file means a checkpoint is in
 * progress.
 */
async function databaseWritten(folder: string, signal: AbortSignal): Promise<boolean> {
  const found = Promise.withResolvers<boolean>();
  const watcher = watch(folder, (_event, name) => {
    if (name === 'cairn.db') found.resolve(true);
  });
  const late = new AbortController();
  const timeout = pause(CHECKPOINT_WITHIN_MS, false, { signal: AbortSignal.any([signal, late.signal]) });
  try {
    return await Promise.race([found.promise, timeout]);
  } finally {
    watcher.close();
    late.abort();
    timeout.catch(() => undefined);
  }
}
