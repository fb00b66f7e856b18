/**
 * What the lists of A2A and MCP show of workflows. A definition may have half a megabyte and takes milliseconds to read,
 * and a list has a hundred: so what is shown is kept by the hash of the definition, and nothing else of it.
 */
import type { WorkflowDefinition } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import type { WorkflowRecord } from '../../log/ports/definitions.ts';
import { SharedLruMap } from '../../shared-lru-map.ts';

export interface WorkflowFace {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The variables that a caller may give; null if they are too long to be shown. */
  readonly inputs: WorkflowDefinition['variables'] | null;
}

/** Longest description. It reaches the model of a client with every request. */
const MAX_DESCRIPTION = 2_000;
/** Characters of the inputs of one workflow. */
const MAX_INPUTS = 60_000;
/** Characters of all faces that are kept, shared by tenants. */
const KEPT = 4_194_304;

interface Kept {
  readonly face: WorkflowFace;
  readonly size: number;
}

export class WorkflowFaces {
  readonly #engine: Pick<Engine, 'workflow'>;
  readonly #kept = new SharedLruMap<string, Kept>({ capacity: KEPT, weigh: ({ size }) => size });
  /** Lists that are made at the same time read each definition once. */
  readonly #reading = new Map<string, Promise<WorkflowFace>>();

  constructor(engine: Pick<Engine, 'workflow'>) {
    this.#engine = engine;
  }

  async of(record: WorkflowRecord): Promise<WorkflowFace> {
    const { hash } = record;
    const kept = this.#kept.get(hash);
    if (kept !== undefined) return kept.face;
    const reading = this.#reading.get(hash) ?? this.#read(record).finally(() => this.#reading.delete(hash));
    this.#reading.set(hash, reading);
    return reading;
  }

  async #read({ tenant, workflowId, version, hash }: WorkflowRecord): Promise<WorkflowFace> {
    const kept = faceOf(await this.#engine.workflow(tenant, workflowId, version));
    return this.#kept.set(hash, kept, tenant).face;
  }
}

function faceOf({ id, name, description, variables, channels = {} }: WorkflowDefinition): Kept {
  const inputs = variables.filter((variable) => !Object.hasOwn(channels, variable.name));
  const length = JSON.stringify(inputs).length;
  const about = (description ?? `Runs the workflow ${name}.`).slice(0, MAX_DESCRIPTION);
  const face = { id, name, description: about, inputs: length > MAX_INPUTS ? null : inputs };
  return { face, size: Math.min(length, MAX_INPUTS) + name.length + about.length };
}
