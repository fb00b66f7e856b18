/** Runs a crew on a host that is killed at random rows of its runs. Implements `npm run e2e:agents` as one function. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isTerminalType, type JsonObject, type RunEventDoc } from '@cairn/protocol';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { createRandom, type Random } from '../../packages/host/test/kit/random.ts';
import { campaignStore, type StoreKind } from '../campaign-store.ts';
import type { Breach } from '../crash/breach.ts';
import { HostProcess } from '../crash/host-process.ts';
import { readJournal } from '../crash/journal.ts';
import { Wire } from '../crash/wire.ts';
import { auditRun } from './audit.ts';
import { countingCrew } from './crew-pack.ts';
import { type CrewProvider, crewProvider } from './crew-provider.ts';
import type { CrewSettings } from './host-main.ts';

export interface CrewCampaign {
  readonly kills: number;
  readonly seed: string;
  readonly store?: StoreKind;
  /** Maximum time from the start of a run to its end. */
  readonly endWithinMs?: number;
  readonly progress?: (text: string) => void;
}

export interface CrewReport {
  readonly seed: string;
  readonly runs: number;
  readonly rows: number;
  /** Number of kills, by the type of the last row seen before the kill. */
  readonly kills: Readonly<Record<string, number>>;
  readonly modelRequests: number;
  readonly modelAttempts: number;
  readonly toolEntries: number;
  /** Interrupted writes that waited for a person. */
  readonly questions: number;
  readonly breaches: readonly Breach[];
  readonly notices: readonly string[];
  readonly seconds: number;
  /** The data folder. Kept only when a guarantee was broken. */
  readonly folder: string | null;
}

const DEFAULT_END_WITHIN_MS = 120_000;
/** Maximum number of rows between two kills. A run has about 150 rows. */
const ROWS_BETWEEN = 45;
/** Delay between two chunks of the model, so that a turn lasts long enough for a kill to hit it. */
const CHUNK_MS = 3;

export async function crewCampaign(options: CrewCampaign): Promise<CrewReport> {
  const began = performance.now();
  const home = await mkdtemp(join(tmpdir(), 'cairn-crew-'));
  countingCrew(join(home, 'pack'));
  await using provider = await crewProvider(CHUNK_MS);
  await using store = await campaignStore(options.store ?? 'sqlite', home);
  const settings: CrewSettings = {
    folder: store.folder,
    store: store.store,
    journal: join(home, 'journal.ndjson'),
    key: 'crew-k7Q2xV9mB4tRz6LwYd3H',
    tenant: 'crew',
    pack: join(home, 'pack'),
    modelUrl: provider.url,
  };
  const scene = new Scene(settings, provider, options);
  try {
    await scene.play();
  } finally {
    await scene.host.kill();
    if (scene.breaches.length === 0) await rm(home, { recursive: true, force: true });
  }
  const { breaches, host, deaths } = scene;
  return {
    seed: options.seed,
    runs: scene.runs,
    rows: scene.rows,
    kills: Object.fromEntries([...Map.groupBy(deaths, (type) => type)].map(([type, all]) => [type, all.length])),
    modelRequests: provider.server.requests.length,
    modelAttempts: scene.modelAttempts,
    toolEntries: scene.toolEntries,
    questions: scene.questions,
    breaches,
    notices: breaches.length === 0 ? [] : host.notices.slice(-50),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    folder: breaches.length === 0 ? null : home,
  };
}

const isWrite = (row: RunEventDoc | undefined): boolean =>
  row?.type === 'agent.toolCalled' && fields(row.payload).safety === 'write';

class Scene {
  readonly host: HostProcess;
  readonly breaches: Breach[] = [];
  readonly deaths: string[] = [];
  runs = 0;
  rows = 0;
  modelAttempts = 0;
  toolEntries = 0;
  questions = 0;
  readonly #settings: CrewSettings;
  readonly #provider: CrewProvider;
  readonly #options: CrewCampaign;
  readonly #random: Random;
  readonly #allowedAgain: string[] = [];

  constructor(settings: CrewSettings, provider: CrewProvider, options: CrewCampaign) {
    this.host = new HostProcess(settings, join(import.meta.dirname, 'host-main.ts'));
    this.#settings = settings;
    this.#provider = provider;
    this.#options = options;
    this.#random = createRandom(options.seed);
  }

  async play(): Promise<void> {
    const birth = await this.host.start();
    if (birth.kind !== 'ready') throw new Error(`The host does not start: ${JSON.stringify(birth)}`);
    while (this.deaths.length < this.#options.kills && this.breaches.length === 0) await this.#oneRun();
    for (const how of this.host.ownDeaths) this.#complain('the host does not die by itself', { how });
  }

  #complain(promise: string, facts: Breach['facts']): void {
    this.breaches.push({ promise, facts });
  }

  async #oneRun(): Promise<void> {
    const topic = `topic-${this.#options.seed.toLowerCase().replace(/[^a-z0-9]/g, '')}-${this.runs}`;
    this.runs += 1;
    const over = AbortSignal.timeout(this.#options.endWithinMs ?? DEFAULT_END_WITHIN_MS);
    const wire = new Wire(this.host, over);
    const body = { workflowId: 'research-crew', inputs: { topic } };
    const { status, body: created } = await wire.post({ path: '/v1/runs', body, idempotencyKey: topic });
    if (status !== 201) {
      this.#complain('a run can be created', { status, created });
      return;
    }
    const runId = String(created.runId);
    const rows = await this.#followed(wire, runId).catch((error: unknown) => {
      this.#complain('the run finishes by itself', { runId, error: String(error) });
      return null;
    });
    if (rows !== null) this.#audit(topic, runId, rows);
  }

  /** Returns all rows of a run up to its end, across kills of the host. */
  async #followed(wire: Wire, runId: string): Promise<readonly RunEventDoc[]> {
    const rows: RunEventDoc[] = [];
    let isTime = this.#nextMoment(0);
    for (;;) {
      for await (const { data } of wire.stream(runId, rows.length - 1)) {
        const row: RunEventDoc = JSON.parse(data);
        rows.push(row);
        if (isTerminalType(row.type)) return rows;
        if (row.type === 'interrupt.requested') await this.#answer(wire, runId, fields(row.payload));
        if (!isTime(rows) || this.deaths.length >= this.#options.kills) continue;
        isTime = this.#nextMoment(rows.length);
        await this.#die(row);
        break;
      }
      await wire.rest();
    }
  }

  /** Picks a random later row, or sometimes the next call of a tool that writes, since those are rare. */
  #nextMoment(seen: number): (rows: readonly RunEventDoc[]) => boolean {
    const at = seen + this.#random.between(0, ROWS_BETWEEN);
    if (this.#random.chance(0.75)) return (rows) => rows.length > at;
    return (rows) => isWrite(rows.at(-1));
  }

  /** Kills the host right after a row, or a moment later, in the middle of the work it triggered. */
  async #die(row: RunEventDoc): Promise<void> {
    const { type } = row;
    if (!isWrite(row) && this.#random.chance(0.5)) await pause(this.#random.between(0, 30));
    await this.host.kill();
    this.deaths.push(type);
    this.#options.progress?.(`kill ${this.deaths.length}/${this.#options.kills} after ${type}`);
    const birth = await this.host.start();
    if (birth.kind !== 'ready') throw new Error(`The host does not come back: ${JSON.stringify(birth)}`);
  }

  /** Only a write with an unknown outcome may raise a question. It appears in the inbox, and a person answers it. */
  async #answer(wire: Wire, runId: string, { interruptId, data }: JsonObject): Promise<void> {
    this.questions += 1;
    const { customKind, payload } = fields(data ?? {});
    const { callId } = fields(payload ?? {});
    if (customKind !== 'cairn.step.interrupted') this.#complain('nothing else is asked', { runId, data });
    const inbox = await this.#inbox();
    if (!inbox.some((question) => question.interruptId === interruptId)) {
      this.#complain('an interrupted write waits in the inbox', { runId, interruptId, inbox });
    }
    const isRetried = this.#random.chance(0.5);
    if (isRetried) this.#allowedAgain.push(String(callId));
    const resumeValue = isRetried ? { action: 'retry' } : { action: 'use', result: { did: 'as a person says' } };
    const path = `/v1/runs/${runId}/interrupts/${String(interruptId)}`;
    const { status, body } = await wire.post({
      path,
      body: { resumeValue },
      idempotencyKey: `answer-${runId}-${String(interruptId)}`,
    });
    if (status !== 200) this.#complain('an interrupted write can be settled', { runId, status, body });
  }

  async #inbox(): Promise<readonly JsonObject[]> {
    const response = await this.host.fetch('/v1/host/cairn/interrupts', {
      headers: { authorization: `Bearer ${this.#settings.key}` },
    });
    return objects(fields(await response.json()).interrupts);
  }

  #audit(topic: string, runId: string, rows: readonly RunEventDoc[]): void {
    const entries = readJournal(this.#settings.journal).filter((entry) => entry.runId === runId);
    this.rows += rows.length;
    this.toolEntries += entries.length;
    this.modelAttempts += rows.filter(({ type }) => type === 'cairn.model.requested').length;
    const asked = this.#provider.asked(topic);
    this.breaches.push(...auditRun({ rows, entries, asked, allowedAgain: this.#allowedAgain }));
    const found = writtenText(rows, 'brief.md');
    if (found !== `# ${topic}\n\nAll is well.\n`) this.#complain('the brief is written', { runId, found });
  }
}

/** The newest version of a file as the rows of its run wrote it; null if it was never closed. A kill leaves older ones open. */
export function writtenText(rows: readonly RunEventDoc[], artifactId: string): string | null {
  const pieces = rows
    .filter(({ type }) => type === 'cairn.artifact.chunk')
    .map(({ payload }) => fields(payload))
    .filter((piece) => piece.artifactId === artifactId);
  const last = pieces.at(-1);
  const newest = pieces.filter(({ version }) => version === last?.version);
  return last?.complete === true ? newest.map(({ data }) => String(data)).join('') : null;
}
