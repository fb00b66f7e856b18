/** A few slots for each tenant. A caller without a slot waits for one of its own tenant, first come, first served. */
export class TenantSlots {
  readonly #each: number;
  readonly #tenants = new Map<string, { taken: number; readonly waiting: (() => void)[] }>();

  constructor(each: number) {
    this.#each = each;
  }

  /** Resolves to the function that gives the slot back; only its first call counts. */
  async take(tenant: string): Promise<() => void> {
    const slots = this.#tenants.get(tenant) ?? { taken: 0, waiting: [] };
    this.#tenants.set(tenant, slots);
    if (slots.taken < this.#each) slots.taken += 1;
    else await new Promise<void>((resolve) => slots.waiting.push(resolve));
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      // The slot passes to the next, or is free.
      const next = slots.waiting.shift();
      if (next !== undefined) next();
      else if (slots.taken === 1) this.#tenants.delete(tenant);
      else slots.taken -= 1;
    };
  }
}
