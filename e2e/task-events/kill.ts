/** Kills the host in the middle of conversations, and checks what a client that resumes with its last id sees. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createClient, emptyConversation, reduceConversation } from '@cairn/client/context';
import type { TaskEvent } from '@cairn/protocol';
import { openReadOnly } from '../../packages/host/src/log/sqlite/folder/read-only.ts';
import { createRandom, type Random } from '../../packages/host/test/kit/random.ts';
import { campaignStore, type StoreKind, verifiableFolder } from '../campaign-store.ts';
import type { Breach } from '../crash/breach.ts';
import { HostProcess } from '../crash/host-process.ts';
import { Wire } from '../crash/wire.ts';
import { auditContext, isEnd } from './audit.ts';
import { clientTools, keys } from './desk.ts';
import { deskModel } from './desk-model.ts';
import type { DeskSettings } from './host-main.ts';

export interface KillCampaign {
  readonly kills: number;
  readonly seed: string;
  readonly store?: StoreKind;
  readonly progress?: (text: string) => void;
}

export interface KillReport {
  readonly seed: string;
  readonly turns: number;
  readonly events: number;
  /** Number of kills, by the kind of the last event before the kill. */
  readonly kills: Readonly<Record<string, number>>;
  readonly breaches: readonly Breach[];
  readonly notices: readonly string[];
  readonly seconds: number;
  /** The data folder. Kept only when a guarantee was broken. */
  readonly folder: string | null;
}

/** The most events between two kills. A turn has about 110, and a turn that is killed begins its text again. */
const EVENTS_BETWEEN = 180;
const CHUNK_MS = 2;
const TURN_MS = 180_000;
/** Messages in one context, so that cursors go on over turns, too. */
const TURNS_PER_CONTEXT = 3;

export async function killCampaign(options: KillCampaign): Promise<KillReport> {
  const began = performance.now();
  const home = await mkdtemp(join(tmpdir(), 'cairn-tasks-'));
  await using model = await deskModel(CHUNK_MS);
  await using place = await campaignStore(options.store ?? 'sqlite', home);
  const { folder, store } = place;
  const settings = { folder, store, journal: '', key: keys.ann, tenant: 'desk', modelUrl: model.url };
  const scene = new Scene(settings, options);
  try {
    await scene.play();
  } finally {
    await scene.host.kill();
    if (scene.breaches.length === 0) await rm(home, { recursive: true, force: true });
  }
  const { breaches, host, deaths, turns, events } = scene;
  return {
    seed: options.seed,
    turns,
    events,
    kills: Object.fromEntries([...Map.groupBy(deaths, (kind) => kind)].map(([kind, all]) => [kind, all.length])),
    breaches,
    notices: breaches.length === 0 ? [] : host.notices.slice(-50),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    folder: breaches.length === 0 ? null : home,
  };
}

/** Every other message brings a tool that the client executes. */
const addressee = (turn: number) =>
  turn % 2 === 1 ? { agentId: 'host:picker', tools: clientTools } : { agentId: 'host:desk' };

/** The input that a client answers once it has executed its tool; null for other events. */
const clientInput = (event: TaskEvent): string | null =>
  event.kind === 'input-required' && event.inputType === 'tool-execution' ? event.inputId : null;

class Scene {
  readonly host: HostProcess;
  readonly breaches: Breach[] = [];
  readonly deaths: string[] = [];
  turns = 0;
  events = 0;
  readonly #options: KillCampaign;
  readonly #random: Random;
  /** Events until the next kill. */
  #left: number;

  constructor(settings: DeskSettings, options: KillCampaign) {
    this.host = new HostProcess(settings, join(import.meta.dirname, 'host-main.ts'));
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#left = this.#random.between(1, EVENTS_BETWEEN);
  }

  async play(): Promise<void> {
    await this.#start();
    const contexts: string[] = [];
    while (this.deaths.length < this.#options.kills && this.breaches.length === 0) {
      contexts.push(await this.#conversation());
    }
    for (const how of this.host.ownDeaths) this.#complain('the host does not die by itself', { how });
    const ended = await this.host.stop();
    if (ended !== 'code 0') this.#complain('the host stops in order', { ended });
    await this.#verify();
  }

  /** As `cairn verify` does. */
  async #verify(): Promise<void> {
    const log = openReadOnly(await verifiableFolder(this.host.settings));
    const found = (runId: string | null) => (seq: number | null, message: string) =>
      this.#complain('chains, faces and indexes are right', { runId, seq, message });
    for (const { runId } of log.runs()) {
      const run = log.run(runId);
      if (run !== null) log.checks.run(run, log.rows(run), found(runId));
    }
    log.checks.folder(found(null), found(null));
    log.close();
  }

  #complain(promise: string, facts: Breach['facts']): void {
    this.breaches.push({ promise, facts });
  }

  async #start(): Promise<void> {
    const birth = await this.host.start();
    if (birth.kind !== 'ready') throw new Error(`The host does not come up: ${JSON.stringify(birth)}`);
  }

  async #conversation(): Promise<string> {
    const seen: TaskEvent[] = [];
    let contextId = '';
    for (let turn = 0; turn < TURNS_PER_CONTEXT && this.breaches.length === 0; turn++) {
      const wire = new Wire(this.host, AbortSignal.timeout(TURN_MS));
      const path = contextId === '' ? '/api/messages' : `/api/contexts/${contextId}/messages`;
      this.turns += 1;
      const sent = await wire.post({
        path,
        body: { message: { role: 'user', content: `Message ${this.turns}.` }, ...addressee(this.turns) },
        idempotencyKey: `message-${this.turns}`,
        prefer: 'respond-async',
      });
      if (sent.status !== 202) throw new Error(`The message was answered ${JSON.stringify(sent)}`);
      contextId = String(sent.body.contextId);
      await this.#followed(wire, contextId, { taskId: String(sent.body.taskId), seen }).catch((error: unknown) =>
        this.#complain('the task goes on to its end', { contextId, last: seen.at(-1), error: String(error) }),
      );
    }
    await this.#compare(contextId, seen);
    return contextId;
  }

  /** Follows the context to the end of the task, with the last id after each kill. */
  async #followed(wire: Wire, contextId: string, turn: { taskId: string; seen: TaskEvent[] }): Promise<void> {
    const { taskId, seen } = turn;
    for (;;) {
      const lastId = seen.at(-1)?.cursor ?? null;
      for await (const { id, event, data } of wire.frames(`/api/contexts/${contextId}/stream?after=0`, lastId)) {
        if (event?.startsWith('stream:') === true) continue;
        const shown: TaskEvent = JSON.parse(data);
        if (id !== String(shown.cursor)) this.#complain('the id of a frame is its cursor', { id, shown });
        seen.push(shown);
        this.events += 1;
        if (shown.taskId === taskId && isEnd(shown)) return;
        const inputId = clientInput(shown);
        if (inputId !== null) this.#left = this.#mayDieHere() ? 1 : this.#left;
        else if (shown.kind === 'input-required') await this.#answer(wire, contextId, shown.inputId);
        this.#left -= 1;
        const dies = this.#left <= 0 && this.deaths.length < this.#options.kills;
        if (dies) await this.#die(shown);
        // The client executed the call while there was no host.
        if (inputId !== null) await this.#answer(wire, contextId, inputId);
        if (dies) break;
      }
      await wire.rest();
    }
  }

  /** The first open call of a client always meets a kill, later ones often do. */
  #mayDieHere(): boolean {
    return !this.deaths.includes('input-required') || this.#random.chance(0.3);
  }

  /** A kill may come between the answer and its response; the answer is then sent again, with the same key. */
  async #answer(wire: Wire, contextId: string, inputId: string): Promise<void> {
    const { status, body } = await wire.post({
      path: `/api/contexts/${contextId}/inputs/${inputId}`,
      body: { value: 'red' },
      idempotencyKey: `answer-${contextId}-${inputId}`,
    });
    if (status !== 202) this.#complain('a question takes its answer', { inputId, status, body });
  }

  /** Kills the host right after an event, or a moment later, in the middle of the work that it began. */
  async #die({ kind }: TaskEvent): Promise<void> {
    this.#left = this.#random.between(1, EVENTS_BETWEEN);
    if (this.#random.chance(0.5)) await pause(this.#random.between(0, 30));
    await this.host.kill();
    this.deaths.push(kind);
    this.#options.progress?.(`kill ${this.deaths.length}/${this.#options.kills} after ${kind}`);
    await this.#start();
  }

  /** What the client saw piece by piece is the log as it is now, and gives the same state. */
  async #compare(contextId: string, seen: readonly TaskEvent[]): Promise<void> {
    const { fetch, settings } = this.host;
    const context = createClient({ url: 'http://host', key: settings.key, fetch }).context(contextId);
    const paged: TaskEvent[] = [];
    for (let after = 0, head = 1; after < head; ) {
      const page = await context.events({ after, limit: 100 });
      paged.push(...page.events);
      ({ next: after, head } = page);
    }
    const gaps = paged.filter(({ cursor }) => !seen.some((event) => event.cursor === cursor));
    const repeats = seen.filter(({ cursor }, i) => i > 0 && cursor <= (seen[i - 1]?.cursor ?? 0));
    if (gaps.length > 0) this.#complain('no event is missing after a resume', { contextId, gaps });
    if (repeats.length > 0) this.#complain('no event comes twice after a resume', { contextId, repeats });
    if (!isDeepStrictEqual(seen, paged)) this.#complain('events do not change', { contextId });
    const state = (events: readonly TaskEvent[]) => reduceConversation(emptyConversation, events);
    if (!isDeepStrictEqual(state(seen), state(paged))) this.#complain('the final state is the same', { contextId });
    this.breaches.push(...auditContext(seen));
  }
}
