/** The public surface of `@cairn/client`: everything exported here, and nothing else. */
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  type CreatedRun,
  type CreateRunOptions,
  createClient,
  type NewRunRequest,
  type RunFilter,
  type RunList,
} from './client.ts';
export type { FollowOptions } from './follow.ts';
export type { Timers } from './timers.ts';
