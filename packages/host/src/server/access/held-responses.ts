/** Open streams and long polls by the session or read token that opened them, so that they end with it. */
import type { ServerResponse } from 'node:http';
import type { Timers } from '../../engine/ports.ts';
import { PassingMap } from '../../passing-map.ts';
import type { Caller } from './auth.ts';
import { type Endable, type Ended, endedName } from './ended-sessions.ts';

/** A notice of another node may be lost, or come to a node that cannot reach the store: it is not waited for longer than this. */
export const LOOK_AGAIN_MS = 60_000;

export interface HeldPorts {
  readonly ended: Pick<Ended, 'has'>;
  readonly timers: Timers;
}

interface Held {
  readonly responses: Set<ServerResponse>;
  cancelTimer: () => void;
}

export class HeldResponses {
  readonly #ports: HeldPorts;
  readonly #open = new PassingMap<string, Held>();

  constructor(ports: HeldPorts) {
    this.#ports = ports;
  }

  /** Until the response closes. A key cannot be ended, so its responses are not kept. */
  hold({ tenant, endableId: id }: Pick<Caller, 'tenant' | 'endableId'>, response: ServerResponse): void {
    if (id === undefined) return;
    const owner: Endable = { tenant, id };
    const name = endedName(owner);
    const held = this.#open.get(name) ?? { responses: new Set(), cancelTimer: () => {} };
    held.responses.add(response);
    if (held.responses.size === 1) {
      this.#open.set(name, held);
      this.#lookLater(owner, held);
    }
    response.once('close', () => {
      held.responses.delete(response);
      if (held.responses.size > 0) return;
      held.cancelTimer();
      if (this.#open.get(name) === held) this.#open.delete(name);
    });
    // It may have ended since it was checked.
    this.#look(owner).catch(() => response.destroy());
  }

  /** Cuts the connections, so that no client takes this for the end of a run. Clients that come back are refused. */
  cut(owner: Endable): void {
    for (const response of this.#open.get(endedName(owner))?.responses ?? []) response.destroy();
  }

  #lookLater(owner: Endable, held: Held): void {
    held.cancelTimer = this.#ports.timers.after(LOOK_AGAIN_MS, () => {
      if (held.responses.size > 0) this.#lookLater(owner, held);
      // A store that cannot say is asked again; what it holds back meanwhile reaches nobody.
      this.#look(owner).catch(() => undefined);
    });
  }

  async #look(owner: Endable): Promise<void> {
    if (await this.#ports.ended.has(owner)) this.cut(owner);
  }
}
