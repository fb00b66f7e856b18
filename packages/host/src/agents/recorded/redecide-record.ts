/** Decides a recorded run again without its host: workflow, agents and templates are those that the run is pinned to. */
import { foldEventOf, isJsonObject, type RunId } from '@cairn/protocol';
import { rehearsedGate } from '../../engine/nodes/conversation-gate.ts';
import { dispatch } from '../../engine/nodes/dispatch.ts';
import { createRunPins, type Pins } from '../../engine/pins/run-pins.ts';
import type { Sha256 } from '../../engine/ports.ts';
import { type Divergence, payloadOf, type RecordedRow } from '../../engine/replay/recorded-row.ts';
import { parseStoredDefinition, type RecordedTypes, recordedTypes } from '../../engine/replay/recorded-types.ts';
import { redecide } from '../../engine/replay/redecide.ts';
import type { NodeType } from '../../engine/workflow/node-type.ts';
import { compileWorkflow, type Workflow } from '../../engine/workflow/workflow.ts';
import { readAgentDefinition } from '../agent-definition.ts';
import { createAgentNodes } from '../loop/agent-node.ts';
import { mockAgent } from '../loop/mock-agent.ts';
import { createPeerNode } from '../loop/peer-node.ts';
import { createSupervisor } from '../orchestration/supervisor.ts';
import { parseTemplate } from '../prompts/prompt-template.ts';
import { RecordedLoop } from './recorded-loop.ts';

/** A row as it is kept. The payload of a purged or sealed row is missing. */
export type KeptRow = Omit<RecordedRow, 'payload'> & { readonly payload: string | null };

export interface RunRecording {
  readonly runId: RunId;
  /** The run that wrote the first row; another one for a fork. */
  readonly originRunId: RunId;
  readonly definitionHash: string;
  readonly fork: { readonly mode: 'replay' | 'branch' } | null;
  readonly rows: Iterable<KeptRow>;
  /** Bodies of workflows, agents and templates by their hash. */
  definition(hash: string): string | null;
}

export interface RecordPorts {
  readonly sha256: Sha256;
  /** Called after each page with the number of events so far. Other work may run meanwhile. */
  readonly progress?: (events: number) => void | Promise<void>;
}

export interface RecordVerdict {
  /** Events that agree with the record. */
  readonly events: number;
  /** Why the record could not be compared to its end. */
  readonly problem: string | null;
  readonly divergence: Divergence | null;
  /** Where a replay differs from its source. It then goes on by the results of the source, so the rest proves nothing. */
  readonly leftAt: number | null;
}

export async function redecideRecord(recording: RunRecording, ports: RecordPorts): Promise<RecordVerdict> {
  const { runId, originRunId, definitionHash } = recording;
  const lost = (hash: string): RecordVerdict => ({
    ...{ events: 0, divergence: null, leftAt: null },
    problem: `the definition ${hash} is not here`,
  });
  const body = recording.definition(definitionHash);
  if (body === null) return lost(definitionHash);
  const pages = new Pages(recording, ports);
  const types = presentTypes(ports.sha256, (nodeId) => {
    const config = shared.nodes.get(nodeId)?.node.config;
    return config?.reasoningVerbosity !== undefined;
  });
  const shared: Workflow = compileWorkflow(parseStoredDefinition(body), definitionHash, types.registry);
  const pins = pinsIn(pages.first());
  const pinned = [...Object.values(pins.agents ?? {}), ...Object.values(pins.prompts ?? {})];
  const missing = pinned.find(({ hash }) => recording.definition(hash) === null);
  if (missing !== undefined) return lost(missing.hash);
  const workflow = await sourceOf(recording).give(shared, pins);
  pages.learn = types.learn;
  const { events, divergence } = await redecide({ runId, originRunId, workflow }, pages);
  return { events, ...judged({ divergence, pages, workflow, types }) };
}

interface Redecided {
  readonly divergence: Divergence | null;
  readonly pages: Pages;
  readonly workflow: Workflow;
  readonly types: RecordedTypes;
}

function judged({ divergence, pages, workflow, types }: Redecided): Omit<RecordVerdict, 'events'> {
  const { withheld, leftAt } = pages;
  if (divergence === null) {
    const problem = withheld === null ? null : `the payload of event ${withheld} is not in the record`;
    return { divergence, problem, leftAt };
  }
  // The rows by which it gives up open work come first.
  if (pages.givesUpAfter(divergence.seq)) return { divergence: null, problem: null, leftAt: divergence.seq };
  const { nodeId = null } = divergence.recorded ?? {};
  const unknown = nodeId === null ? null : types.unknown(workflow.nodes.get(nodeId)?.node.typeId);
  if (unknown === null) return { divergence, problem: `event ${divergence.seq} differs`, leftAt };
  const problem = `event ${divergence.seq} belongs to a node of type ${unknown}, which cannot be decided without a host`;
  return { divergence: null, problem, leftAt };
}

/** The node types of this version, with what the record says about the host that it comes from. */
function presentTypes(sha256: Sha256, hasOwnVerbosity: (nodeId: string) => boolean): RecordedTypes {
  const loop = new RecordedLoop(sha256, hasOwnVerbosity);
  const agentTypes: readonly NodeType[] = [
    ...createAgentNodes(loop),
    createPeerNode(loop),
    mockAgent(loop),
    createSupervisor(loop),
    dispatch,
    rehearsedGate,
  ];
  const types = recordedTypes(agentTypes);
  return {
    ...types,
    learn(row) {
      types.learn(row);
      loop.learn(row);
    },
  };
}

/** A run has its pins with its first row. */
function pinsIn(first: RecordedRow | null): Pins {
  const event = first === null ? null : foldEventOf(first);
  return event?.type === 'run.started' ? event.payload : {};
}

/** A run that is decided again is pinned already. */
const neverPins = () => Promise.reject(new Error('A recorded run is pinned already.'));

const sourceOf = ({ definition }: RunRecording) => {
  const body = (hash: string): string => definition(hash) ?? '';
  return createRunPins({
    agents: { pin: neverPins, definition: async (hash) => readAgentDefinition(hash, body(hash)) },
    prompts: { pin: neverPins, template: async (hash) => parseTemplate(JSON.parse(body(hash))) },
  });
};

/** Rows that are decided before others are read. A decision with more rows would not know what its last ones show. */
const PAGE = 1_000;

/** Pages of rows. Each is decided only when the next one has been learnt from, because a decision may span both. */
class Pages {
  /** The first row without a payload. */
  withheld: number | null = null;
  leftAt: number | null = null;
  learn: (row: RecordedRow) => void = () => undefined;
  readonly #pages: Generator<readonly RecordedRow[]>;
  readonly #progress: RecordPorts['progress'];
  readonly #isReplay: boolean;
  #page: readonly RecordedRow[] = [];
  #next: readonly RecordedRow[] | null;

  constructor({ rows, fork }: Pick<RunRecording, 'rows' | 'fork'>, { progress }: RecordPorts) {
    this.#isReplay = fork?.mode === 'replay';
    this.#pages = this.#read(rows);
    this.#progress = progress;
    this.#next = this.#pull();
  }

  first(): RecordedRow | null {
    return this.#next?.[0] ?? null;
  }

  /** The run is a replay and fails a node here because its source has no result for it. */
  givesUpAfter(seq: number): boolean {
    const ahead = [...this.#page, ...(this.#next ?? [])];
    return this.#isReplay && ahead.some((row) => row.seq >= seq && isMissingSource(row));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RecordedRow[]> {
    for (const row of this.#next ?? []) this.learn(row);
    for (let page = this.#next; page !== null; page = this.#next) {
      this.#page = page;
      this.#next = this.#pull();
      for (const row of this.#next ?? []) this.learn(row);
      yield page;
      await this.#progress?.((page.at(-1)?.seq ?? -1) + 1);
    }
  }

  #pull(): readonly RecordedRow[] | null {
    const { value, done } = this.#pages.next();
    return done === true ? null : value;
  }

  /** The rows of a bundle are verified only when all have been read, so none is left out. */
  *#read(rows: Iterable<KeptRow>): Generator<readonly RecordedRow[]> {
    let page: RecordedRow[] = [];
    for (const { payload, ...row } of rows) {
      if (payload === null) this.withheld ??= row.seq;
      if (this.#isReplay && leaving.includes(row.type)) this.leftAt ??= row.seq;
      if (payload === null || this.withheld !== null || this.leftAt !== null) continue;
      page.push({ ...row, payload });
      if (page.length < PAGE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }
}

/** The rows by which a replay says that it has left the record. */
const leaving: readonly string[] = ['replay.diverged', 'replay.divergedAtRefusal'];

function isMissingSource(row: RecordedRow): boolean {
  if (row.type !== 'node.failed') return false;
  const { error } = payloadOf(row);
  return isJsonObject(error) && error.code === 'replay_source_missing';
}
