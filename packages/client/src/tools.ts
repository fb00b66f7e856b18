/** Tools that the agents of the caller's runs may call. */
import type { ToolDescriptor, ToolList } from '@cairn/protocol';
import { type CallOptions, query, read, segment } from './calls.ts';
import type { Connection } from './connection.ts';

export interface ListTools {
  /** Only those of this kind. */
  readonly source?: ToolDescriptor['source'];
  /** `compact` leaves the schemas out. */
  readonly view?: 'standard' | 'compact';
}

export interface Tools {
  /** By id. */
  list(filter?: ListTools, options?: CallOptions): Promise<readonly ToolDescriptor[]>;
  get(toolId: string, options?: CallOptions): Promise<ToolDescriptor>;
}

export function toolCalls(connection: Connection): Tools {
  return {
    async list(filter = {}, options) {
      return (await read<ToolList>(connection, `/v1/tools${query({ ...filter })}`, options)).tools;
    },
    get: (toolId, options) => read(connection, `/v1/tools/${segment(toolId)}`, options),
  };
}
