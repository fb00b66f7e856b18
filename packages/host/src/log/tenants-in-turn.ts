/** Takes items of each tenant in turn, so that none stands behind a long line of another. All queues share the rule. */
import { RoundRobin } from '../round-robin.ts';

/** Tenants take turns in the order of their first items. The items of one tenant keep their order. */
export function tenantsInTurn<Item extends object>(
  items: readonly Item[],
  tenantOf: (item: Item) => string,
  limit: number,
): Item[] {
  const waiting = new RoundRobin<Item>();
  for (const item of items) waiting.add([tenantOf(item)], item);
  const taken: Item[] = [];
  while (taken.length < limit) {
    const item = waiting.next();
    if (item === null) break;
    taken.push(item);
  }
  return taken;
}
