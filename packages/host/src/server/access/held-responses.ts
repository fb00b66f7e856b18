/** Open streams and long polls by the session or read token that opened them, so that they end with it. */
import type { ServerResponse } from 'node:http';
import { PassingMap } from '../../passing-map.ts';
import type { Caller } from './auth.ts';
import { type Endable, endedName } from './ended-sessions.ts';

export class HeldResponses {
  readonly #open = new PassingMap<string, Set<ServerResponse>>();

  /** Until the response closes. A key cannot be ended, so its responses are not kept. */
  hold({ tenant, endableId }: Pick<Caller, 'tenant' | 'endableId'>, response: ServerResponse): void {
    if (endableId === undefined) return;
    const name = endedName({ tenant, id: endableId });
    const held = this.#open.get(name) ?? new Set();
    this.#open.set(name, held.add(response));
    response.once('close', () => {
      held.delete(response);
      if (held.size === 0 && this.#open.get(name) === held) this.#open.delete(name);
    });
  }

  /** Cuts the connections, so that no client takes this for the end of a run. Clients that come back are refused. */
  cut(owner: Endable): void {
    for (const response of this.#open.get(endedName(owner)) ?? []) response.destroy();
  }
}
