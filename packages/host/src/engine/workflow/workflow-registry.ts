/** Registers definitions by name and by content, compiles each once, and caches the recently used ones. */
import { parseWorkflowDefinition, TerminalError, type WorkflowDefinition } from '@cairn/protocol';
import type { WorkflowRecord } from '../../log/ports/definitions.ts';
import type { Store } from '../../log/ports/store.ts';
import { LruMap } from '../../lru-map.ts';
import type { HostLimits } from '../core/limits.ts';
import type { Clock, Sha256 } from '../ports.ts';
import type { NodeTypeRegistry } from './node-type.ts';
import { checkDefinition, definitionText } from './registration.ts';
import { compileWorkflow, type Workflow } from './workflow.ts';

export interface WorkflowRegistry {
  register(tenant: string, definition: WorkflowDefinition): Promise<WorkflowRecord>;
  /** The named version, or the one registered last; `not_found` when the tenant has none. */
  byName(tenant: string, workflowId: string, version?: string): Promise<Workflow>;
  byHash(hash: string): Promise<Workflow>;
  /** Stores a definition by its content only, without a name. */
  adopt(definition: WorkflowDefinition): Promise<Workflow>;
}

/** Compiled definitions kept in memory. */
const KEPT = 500;

export interface WorkflowRegistryPorts {
  readonly store: Pick<Store, 'definitions'>;
  readonly nodeTypes: NodeTypeRegistry;
  readonly clock: Clock;
  readonly sha256: Sha256;
  readonly limits: Pick<HostLimits, 'expressionCost'>;
}

export function createWorkflowRegistry({
  store,
  nodeTypes,
  clock,
  sha256,
  limits: { expressionCost },
}: WorkflowRegistryPorts): WorkflowRegistry {
  const compiled = new LruMap<string, Workflow>(KEPT);

  const byHash = async (hash: string): Promise<Workflow> => {
    const known = compiled.get(hash);
    if (known !== undefined) return known;
    const body = await store.definitions.get(hash);
    if (body === null) {
      throw new TerminalError('not_found', {
        message: `The definition ${hash} is not in the store.`,
        hint: 'Register the workflow again; definitions are stored by their content.',
        details: { definitionHash: hash },
      });
    }
    return compiled.set(
      hash,
      compileWorkflow(parseWorkflowDefinition(JSON.parse(body)), hash, nodeTypes, expressionCost),
    );
  };

  const adopt = async (definition: WorkflowDefinition): Promise<Workflow> => {
    const body = definitionText(definition);
    const hash = sha256(body, 'hex');
    const known = compiled.get(hash);
    if (known !== undefined) return known;
    checkDefinition(definition, nodeTypes);
    const workflow = compileWorkflow(definition, hash, nodeTypes, expressionCost);
    // A cached definition must be in the store: its runs must find it after a restart.
    await store.definitions.put(hash, body);
    return compiled.set(hash, workflow);
  };

  return {
    byHash,
    adopt,
    async register(tenant, definition) {
      const { hash } = await adopt(definition);
      const record: WorkflowRecord = {
        tenant,
        workflowId: definition.id,
        version: definition.version,
        hash,
        registeredAt: clock.now(),
      };
      await store.definitions.putWorkflow(record);
      return record;
    },
    async byName(tenant, workflowId, version) {
      const record = await store.definitions.workflow(tenant, workflowId, version);
      if (record === null) {
        throw new TerminalError('not_found', {
          message: `There is no workflow ${workflowId}${version === undefined ? '' : ` in version ${version}`}.`,
          hint: 'Register it with POST /v1/workflows, or name a folder that holds it in the configuration.',
          details: { workflowId, ...(version === undefined ? {} : { version }) },
        });
      }
      return byHash(record.hash);
    },
  };
}
