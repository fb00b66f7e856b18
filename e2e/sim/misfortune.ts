/** Injects faults into nodes, clocks and the store during a seed, and repairs them. */
import type { Random } from '../../packages/host/test/kit/random.ts';
import type { Interesting } from './coverage.ts';
import type { Profile } from './profile.ts';
import type { Life, SimNode } from './sim-node.ts';
import type { StoreWorld } from './sim-store.ts';

export interface MisfortuneWorld {
  readonly profile: Profile;
  readonly random: Random;
  readonly nodes: readonly SimNode[];
  readonly store: StoreWorld;
  readonly count: (name: Interesting) => void;
  readonly note: (text: string) => void;
  /** A node crashed: its pending requests get no response. */
  readonly crashed: (life: string) => void;
  /** A node stops cleanly: its requests are answered and its streams are closed. */
  readonly stops: (life: string) => void;
}

/** Probability per step that a node that is down restarts, and that a store fault ends. */
const RECOVERY = 0.1;
const MAX_SKEW_MS = 40_000;

export class Misfortune {
  readonly #world: MisfortuneWorld;

  constructor(world: MisfortuneWorld) {
    this.#world = world;
  }

  /** Returns true when a fault was injected or repaired, which takes up the step. */
  strike(): boolean {
    const { random, profile, count, nodes } = this.#world;
    const node = random.pick(nodes);
    const { life } = node;
    if (life === null) return this.#restart(node);
    if (random.chance(profile.crash)) {
      count('node crashed');
      this.#world.crashed(life.name);
      node.crash();
      return true;
    }
    if (random.chance(profile.stop) && !life.stopping) {
      count('node stopped in order');
      this.#world.stops(life.name);
      node.stop();
      return true;
    }
    if (random.chance(profile.tornBatch)) {
      this.#world.note(`${life.name} tears a batch`);
      life.line.tear();
      return true;
    }
    return this.#cut(life) || this.#fill() || this.#jump(node);
  }

  #restart(node: SimNode): boolean {
    const { random, count } = this.#world;
    if (!random.chance(RECOVERY)) return false;
    count('node restarted');
    node.boot();
    return true;
  }

  #cut({ line, name }: Life): boolean {
    const { random, profile, count, note } = this.#world;
    if (!random.chance(line.cutOff ? RECOVERY : profile.cutOff)) return false;
    line.cutOff = !line.cutOff;
    if (line.cutOff) count('node cut off');
    note(`${name} is ${line.cutOff ? 'cut off from' : 'back at'} the store`);
    return true;
  }

  #fill(): boolean {
    const { random, profile, count, note, store } = this.#world;
    if (!random.chance(store.diskFull ? RECOVERY : profile.diskFull)) return false;
    store.diskFull = !store.diskFull;
    if (store.diskFull) count('disk full');
    note(`disk ${store.diskFull ? 'full' : 'has room'}`);
    return true;
  }

  #jump(node: SimNode): boolean {
    const { random, profile, count, note } = this.#world;
    if (!random.chance(profile.clockJump)) return false;
    const before = node.skew;
    node.skew = random.between(-MAX_SKEW_MS, MAX_SKEW_MS);
    count(node.skew < before ? 'clock jumped back' : 'clock jumped ahead');
    note(`clock of ${node.name} is off by ${node.skew}`);
    return true;
  }
}
