/** Takes items of each tenant in turn, so that none stands behind a long line of another. All queues share the rule. */

/** Tenants take turns in the order of their first items. The items of one tenant keep their order. */
export function roundRobin<Item>(items: readonly Item[], tenantOf: (item: Item) => string, limit: number): Item[] {
  const lanes = Map.groupBy(items, tenantOf);
  const taken: Item[] = [];
  for (let turn = 0; taken.length < limit && lanes.size > 0; turn += 1) {
    for (const [tenant, lane] of lanes) {
      const item = lane[turn];
      if (item === undefined) lanes.delete(tenant);
      else if (taken.length < limit) taken.push(item);
    }
  }
  return taken;
}
