/** Workflows: register, read, list, and what they are made of. */
import type {
  AuthoredWorkflow,
  NodeTypeDescriptor,
  NodeTypeList,
  WorkflowDefinition,
  WorkflowRegistered,
} from '@cairn/protocol';
import { type CallOptions, type ChangeOptions, change, query, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface WorkflowList {
  readonly workflows: readonly {
    readonly workflowId: string;
    readonly version: string;
    readonly registeredAt: string;
  }[];
}

export interface Workflows {
  /**
   * The same definition again is no error; another one needs another version, or none: the host then derives the
   * version from the content.
   */
  register(definition: AuthoredWorkflow, options?: ChangeOptions): Promise<WorkflowRegistered>;
  /** The newest version, or the one named. */
  get(workflowId: string, options?: CallOptions & { readonly version?: string }): Promise<WorkflowDefinition>;
  /** Each workflow with its newest version. */
  list(options?: CallOptions): Promise<WorkflowList>;
  /** The node types that definitions may use, with the JSON Schema of the config of each. */
  nodeTypes(options?: CallOptions): Promise<readonly NodeTypeDescriptor[]>;
}

export function workflowCalls(connection: Connection): Workflows {
  return {
    register: (definition, options) => change(connection, { path: '/v1/workflows', body: definition }, options),
    get: (workflowId, options) =>
      read(connection, `/v1/workflows/${segment(workflowId)}${query({ version: options?.version })}`, options),
    list: (options) => read(connection, '/v1/workflows', options),
    async nodeTypes(options) {
      return (await read<NodeTypeList>(connection, '/v1/node-types', options)).nodeTypes;
    },
  };
}
