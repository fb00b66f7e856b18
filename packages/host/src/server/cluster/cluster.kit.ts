/** A node of a store, with the time of the system; not shipped. */
import { randomUUID } from 'node:crypto';
import type { Report } from '../../engine/ports.ts';
import type { Store } from '../../log/ports/store.ts';
import { systemTimers } from '../compose.ts';
import { ClusterNode } from './cluster-node.ts';

export const nodeOf = ({ cluster }: Pick<Store, 'cluster'>, report: Report = () => undefined): ClusterNode =>
  new ClusterNode({ cluster, node: randomUUID(), leaseMs: 30_000, now: Date.now, timers: systemTimers, report });
