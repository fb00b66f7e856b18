/**
 * Bodies that take milliseconds to read and to handle. However many arrive at once, each turn of the event loop reads a
 * few milliseconds of them, and a tenant has few of them in memory as values.
 */
import type { Json } from '@cairn/protocol';
import type { LongWork } from '../../engine/shares/long-work.ts';
import { TenantSlots } from '../../tenant-slots.ts';
import { parseJsonBody } from './json-body.ts';

/** To read fewer bytes than this takes less than a millisecond, whatever is in them. */
export const LONG_BODY_BYTES = 16_384;

/** Bodies of a tenant that are read and not handled yet: in memory, one may take fifty times its bytes. */
const LONG_BODIES = 4;

export interface ReadBody {
  readonly value: Json;
  /** Lets the next one of the tenant be read. */
  readonly done: () => void;
}

export class LongBodies {
  readonly #longWork: Pick<LongWork, 'take'>;
  readonly #parse: (body: Buffer) => Json;
  readonly #slots = new TenantSlots(LONG_BODIES);

  constructor(longWork: Pick<LongWork, 'take'>, parse: (body: Buffer) => Json = parseJsonBody) {
    this.#longWork = longWork;
    this.#parse = parse;
  }

  async read(owner: string, body: Buffer): Promise<ReadBody> {
    const done = await this.#slots.take(owner);
    try {
      return { value: await this.#longWork.take(owner, () => this.#parse(body)), done };
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Inspects a body, and in another turn begins to handle it, which ends what is long of it. */
  async handle<Result>(
    owner: string,
    done: () => void,
    { inspect, handle }: { readonly inspect: () => void; readonly handle: () => Promise<Result> },
  ): Promise<Result> {
    try {
      await this.#longWork.take(owner, inspect);
      return await this.#longWork.take(owner, () => {
        const handled = handle();
        done();
        return handled;
      });
    } finally {
      done();
    }
  }
}
