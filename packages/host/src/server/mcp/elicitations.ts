/** Questions that clients with a session are asked on their streams, until their answers come with other requests. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import type { Caller } from '../access/auth.ts';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import type { RpcId } from './rpc.ts';

interface Pending {
  readonly caller: Caller;
  readonly resolve: (result: JsonObject | null) => void;
}

const replyShape = z.object({
  id: z.union([z.string(), z.number(), z.null()]),
  tenant: z.string(),
  principal: z.string().optional(),
  result: z.custom<JsonObject>((value) => isJsonObject(value as Json)).nullable(),
});

type Reply = z.infer<typeof replyShape>;

/** There is at most one for each open call, so that the limit of open streams bounds them. */
export class Elicitations {
  readonly #pending = new Map<RpcId, Pending>();
  readonly #cluster: Pick<ClusterNode, 'publish'>;

  constructor(cluster: Pick<ClusterNode, 'on' | 'publish'>) {
    this.#cluster = cluster;
    cluster.on('mcp.reply', (body) => this.#settle(replyShape.parse(JSON.parse(body))));
  }

  open(caller: Caller): { readonly id: string; readonly reply: Promise<JsonObject | null> } {
    const id = randomUUID();
    const reply = new Promise<JsonObject | null>((resolve) => this.#pending.set(id, { caller, resolve }));
    return { id, reply };
  }

  /**
   * Null for the error of a client. The stream that asked may be at another node. A reply of another caller, or to nothing,
   * is dropped.
   */
  async answer({ tenant, principal }: Caller, id: RpcId, result: JsonObject | null): Promise<void> {
    const reply: Reply = { id, tenant, principal, result };
    if (this.#pending.has(id)) this.#settle(reply);
    else await this.#cluster.publish('mcp.reply', JSON.stringify(reply));
  }

  close(id: string): void {
    this.#pending.delete(id);
  }

  #settle({ id, tenant, principal, result }: Reply): void {
    const pending = this.#pending.get(id);
    if (pending?.caller.tenant === tenant && pending.caller.principal === principal) pending.resolve(result);
  }
}
