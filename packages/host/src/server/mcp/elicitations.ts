/** Questions that clients with a session are asked on their streams, until their answers come with other requests. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@cairn/protocol';
import type { Caller } from '../access/auth.ts';
import type { RpcId } from './rpc.ts';

interface Pending {
  readonly caller: Caller;
  readonly resolve: (result: JsonObject | null) => void;
}

/** There is at most one for each open call, so that the limit of open streams bounds them. */
export class Elicitations {
  readonly #pending = new Map<RpcId, Pending>();

  open(caller: Caller): { readonly id: string; readonly reply: Promise<JsonObject | null> } {
    const id = randomUUID();
    const reply = new Promise<JsonObject | null>((resolve) => this.#pending.set(id, { caller, resolve }));
    return { id, reply };
  }

  /** Null for the error of a client. A reply of anybody else, or to nothing, is dropped. */
  answer({ tenant, principal }: Caller, id: RpcId, result: JsonObject | null): void {
    const pending = this.#pending.get(id);
    if (pending?.caller.tenant === tenant && pending.caller.principal === principal) pending.resolve(result);
  }

  close(id: string): void {
    this.#pending.delete(id);
  }
}
