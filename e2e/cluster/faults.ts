/** What goes wrong in a cluster, one thing at a time. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { TestDatabase } from '../../packages/host/test/kit/test-database.ts';
import type { Complain } from '../crash/breach.ts';
import type { NodeProcess } from './node-process.ts';

export const faultKinds = ['kill', 'pause', 'restart', 'database'] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultPorts {
  readonly nodes: readonly NodeProcess[];
  readonly database: TestDatabase;
  readonly random: Random;
  readonly leaseMs: number;
  readonly complain: Complain;
}

/** The first faults are one of each kind, so that a short campaign has them all. */
export const nextFault = (index: number, random: Random): FaultKind => {
  const kind = faultKinds[index];
  if (kind !== undefined) return kind;
  const dice = random.below(100);
  if (dice < 40) return 'kill';
  if (dice < 75) return 'pause';
  return dice < 90 ? 'restart' : 'database';
};

export async function fault(kind: FaultKind, ports: FaultPorts): Promise<void> {
  const { nodes, database, random, leaseMs, complain } = ports;
  const node = nodes[random.below(nodes.length)];
  if (node === undefined) return;
  await pause(random.between(50, 400));
  if (kind === 'kill') {
    await node.kill();
    // Sometimes the process is back before its lease ends, sometimes another node has taken over.
    if (random.chance(0.5)) await pause(leaseMs * 1.5);
    await node.start();
  } else if (kind === 'pause') {
    node.pause();
    await pause(leaseMs * 2);
    node.wake();
  } else if (kind === 'restart') {
    const code = await node.stop();
    if (code !== 0) complain('a node stops in order', { node: node.name, code });
    await node.start();
  } else {
    await database.restart();
  }
}
