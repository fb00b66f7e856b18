/** A request of a peer, on its way to its method. */
import type { Call } from '../http/routes.ts';
import type { RpcRequest } from './rpc.ts';
import type { A2aVersion } from './versions.ts';

export interface A2aRequest {
  readonly call: Call;
  readonly version: A2aVersion;
  readonly rpc: RpcRequest;
  /** The agent or workflow in the path. */
  readonly skillId: string | undefined;
}
