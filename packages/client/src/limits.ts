/** The limits of the tenant, and what it uses of them. */
import type { TenantLimits } from '@cairn/protocol';
import { type CallOptions, read } from './calls.ts';
import type { Connection } from './connection.ts';

export const readLimits = (connection: Connection, options?: CallOptions): Promise<TenantLimits> =>
  read(connection, '/v1/host/cairn/limits', options);
