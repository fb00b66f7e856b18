/** Registers definitions by name and by content, compiles each once, and caches the recently used ones. */
import { type AuthoredWorkflow, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import type { Payer, WorkflowRecord } from '../../log/ports/definitions.ts';
import type { Store } from '../../log/ports/store.ts';
import { SharedLruMap } from '../../shared-lru-map.ts';
import type { HostLimits } from '../core/limits.ts';
import type { Clock, Sha256 } from '../ports.ts';
import type { LongWork, Sliced } from '../shares/long-work.ts';
import { compileCost } from './definition-cost.ts';
import { refuseLargeText } from './definition-size.ts';
import type { NodeTypeRegistry } from './node-type.ts';
import { parseAuthoredInSlices, parseInSlices, refuseLongLists } from './parse-definition.ts';
import { checkInSlices, textInSlices } from './registration.ts';
import { refuseManyVersions } from './version-quota.ts';
import { compileInSlices, type Workflow } from './workflow.ts';

export interface WorkflowRegistry {
  /** The definition is parsed first, so it may come from a request. A missing version is derived from the content. */
  register(tenant: string, definition: unknown, options?: RegisterOptions): Promise<WorkflowRecord>;
  /** The named version, or the one registered last; `not_found` when the tenant has none. */
  byName(tenant: string, workflowId: string, version?: string): Promise<Workflow>;
  /** The definition stays in memory on account of the tenant. */
  byHash(tenant: string, hash: string): Promise<Workflow>;
  /** Stores a definition by its content only, without a name. */
  adopt(tenant: string, definition: WorkflowDefinition): Promise<Workflow>;
  /** Compiles definitions again at their next use, because the node types have changed. */
  forgetCompiled(): void;
}

export interface RegisterOptions {
  /** The host gives it to the tenant and pays for it: no tenant that is full keeps the host from starting. Default: false. */
  readonly isOfHost?: boolean;
}

/** The bytes of all compiled definitions in memory, shared fairly by tenants. */
const MAX_CACHED_BYTES = 67_108_864;

export interface WorkflowRegistryPorts {
  readonly store: Pick<Store, 'definitions'>;
  readonly nodeTypes: NodeTypeRegistry;
  readonly clock: Clock;
  readonly longWork: LongWork;
  readonly sha256: Sha256;
  readonly limits: Pick<HostLimits, 'expressionCost' | 'maxTenantLogBytes'>;
  /** Whether an edited definition may keep its version. Runs keep the definition they started with. Default false. */
  readonly replacesVersions?: boolean;
}

interface Cached {
  readonly workflow: Workflow;
  /** Whether this host has checked it. A definition from the store may be one that an earlier host accepted. */
  readonly isChecked: boolean;
  readonly bytes: number;
}

export function createWorkflowRegistry(ports: WorkflowRegistryPorts): WorkflowRegistry {
  const { store, nodeTypes, clock, longWork, sha256, limits, replacesVersions = false } = ports;
  const cache = new SharedLruMap<string, Cached>({ capacity: MAX_CACHED_BYTES, weigh: ({ bytes }) => bytes });
  const compile = (tenant: string, definition: WorkflowDefinition, hash: string): Promise<Workflow> =>
    longWork.inSlices(tenant, compileInSlices({ definition, hash, nodeTypes, expressionCost: limits.expressionCost }));
  const keep = async (tenant: string, kept: Pick<Cached, 'workflow' | 'isChecked'>, characters: number) => {
    const { workflow } = kept;
    const cost = await longWork.inSlices(tenant, compileCost(workflow.definition));
    return cache.set(workflow.hash, { ...kept, bytes: bytesOf(workflow, characters, cost) }, tenant).workflow;
  };

  const byHash = async (tenant: string, hash: string): Promise<Workflow> => {
    const known = cache.get(hash);
    if (known !== undefined) return known.workflow;
    const body = await longWork.take(tenant, () => store.definitions.get(hash));
    if (body === null) throw definitionNotFound(hash);
    const definition = await longWork.inSlices(tenant, parsedInSlices(body));
    return keep(tenant, { workflow: await compile(tenant, definition, hash), isChecked: false }, body.length);
  };

  const payerOf = (tenant: string): Payer => ({ tenant, maxTenantBytes: limits.maxTenantLogBytes });

  const adopt = async (tenant: string, definition: WorkflowDefinition, payer?: Payer): Promise<Workflow> => {
    const body = await longWork.inSlices(tenant, textInSlices(definition));
    refuseLargeText(body);
    const hash = sha256(body, 'hex');
    const known = cache.get(hash);
    if (known?.isChecked === true) return known.workflow;
    await longWork.inSlices(tenant, checkInSlices(definition, nodeTypes));
    // As a restarted host reads it: the order of its keys shows in events, and in which expression fails first.
    const stored = await longWork.inSlices(tenant, parsedInSlices(body));
    const workflow = await compile(tenant, stored, hash);
    // A cached definition must be in the store: its runs must find it after a restart.
    await store.definitions.put(hash, body, payer);
    return keep(tenant, { workflow, isChecked: true }, body.length);
  };

  const versionOf = async (tenant: string, authored: AuthoredWorkflow): Promise<string> =>
    authored.version ?? derivedVersion(sha256(await longWork.inSlices(tenant, textInSlices(authored)), 'hex'));

  return {
    byHash,
    adopt: (tenant, definition) => adopt(tenant, definition, payerOf(tenant)),
    forgetCompiled: () => cache.clear(),
    async register(tenant, given, { isOfHost = false } = {}) {
      refuseLongLists(given);
      const authored = await longWork.inSlices(tenant, parseAuthoredInSlices(given));
      refuseHostNodes(authored, nodeTypes);
      const definition = { ...authored, version: await versionOf(tenant, authored) };
      const { id: workflowId, version } = definition;
      if (!isOfHost) await refuseManyVersions(store.definitions, { tenant, workflowId, version });
      const { hash } = await adopt(tenant, definition, isOfHost ? undefined : payerOf(tenant));
      const record: WorkflowRecord = { tenant, workflowId, version, hash, registeredAt: clock.now() };
      // Derived versions have no order: an edit that is undone must be the newest again.
      const replaces = replacesVersions || authored.version === undefined;
      const newest = replaces ? await store.definitions.workflow(tenant, workflowId) : null;
      if (newest?.version === version && newest.hash === hash) return newest;
      await store.definitions.putWorkflow(record, { replaces });
      return record;
    },
    async byName(tenant, workflowId, version) {
      const record = await store.definitions.workflow(tenant, workflowId, version);
      if (record === null) throw workflowNotFound(workflowId, version);
      return byHash(tenant, record.hash);
    },
  };
}

function refuseHostNodes({ id, nodes }: AuthoredWorkflow, nodeTypes: NodeTypeRegistry): void {
  const found = nodes.find(({ typeId }) => nodeTypes.get(typeId)?.hostAgent !== undefined);
  if (found === undefined) return;
  const problem = `node ${found.id}: only the host makes nodes of the type ${found.typeId}`;
  throw new TerminalError('validation_error', {
    message: `The workflow ${id} cannot be registered: ${problem}.`,
    hint: 'GET /v1/node-types lists the types.',
    details: { workflowId: id, problems: [problem] },
  });
}

const definitionNotFound = (hash: string): TerminalError =>
  new TerminalError('not_found', {
    message: `The definition ${hash} is not in the store.`,
    hint: 'Register the workflow again; definitions are stored by their content.',
    details: { definitionHash: hash },
  });

/** Repeats only what has the form of an id and of a version: other text may be anything, also a secret. */
function workflowNotFound(workflowId: string, version: string | undefined): TerminalError {
  const isId = /^[a-z][a-z0-9_-]{0,127}$/.test(workflowId);
  const shown = version !== undefined && /^[\w.+-]{1,64}$/.test(version) ? version : undefined;
  const inVersion = version === undefined ? '' : ` in ${shown === undefined ? 'that version' : `version ${shown}`}`;
  return new TerminalError('not_found', {
    message: isId
      ? `There is no workflow ${workflowId}${inVersion}.`
      : 'There is no such workflow: this is no workflow id.',
    hint: 'Register it with POST /v1/workflows, or name a folder that holds it in the configuration.',
    details: { ...(isId ? { workflowId } : {}), ...(shown === undefined ? {} : { version: shown }) },
  });
}

/** 48 bits of the hash tell the versions of one workflow apart, and are short enough to read and to type. */
const derivedVersion = (hash: string): string => `sha256-${hash.slice(0, 12)}`;

function* parsedInSlices(body: string): Sliced<WorkflowDefinition> {
  const value: unknown = JSON.parse(body);
  yield undefined;
  return yield* parseInSlices(value);
}

/** Bytes in memory, measured: 6 for each character of JSON, 1,000 for a node, 300 for an edge, 5 for a unit of cost. */
const bytesOf = ({ nodes, edges }: Workflow, characters: number, cost: number): number =>
  6 * characters + 1_000 * nodes.size + 300 * edges.size + 5 * cost;
