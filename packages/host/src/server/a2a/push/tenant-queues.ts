/** Work of tenants: each has its own queue, and does a few things at a time. No tenant waits for another. */
export class TenantQueues<Item> {
  readonly #max: number;
  readonly #work: (item: Item) => Promise<void>;
  readonly #waiting = new Map<string, Item[]>();
  readonly #atWork = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  /** `work` must not reject. */
  constructor(max: number, work: (item: Item) => Promise<void>) {
    this.#max = max;
    this.#work = work;
  }

  add(tenant: string, item: Item): void {
    if (this.#isClosed) return;
    const atWork = this.#atWork.get(tenant) ?? 0;
    if (atWork >= this.#max) {
      const waiting = this.#waiting.get(tenant);
      if (waiting === undefined) this.#waiting.set(tenant, [item]);
      else waiting.push(item);
      return;
    }
    this.#atWork.set(tenant, atWork + 1);
    const done = this.#work(item).finally(() => {
      this.#underWay.delete(done);
      this.#finished(tenant);
    });
    this.#underWay.add(done);
  }

  /** Resolves once nothing is under way. What waits is dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await Promise.all(this.#underWay);
  }

  #finished(tenant: string): void {
    const left = (this.#atWork.get(tenant) ?? 1) - 1;
    if (left > 0) this.#atWork.set(tenant, left);
    else this.#atWork.delete(tenant);
    const waiting = this.#waiting.get(tenant);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(tenant);
    if (next !== undefined) this.add(tenant, next);
  }
}
