/** What hosts say to each other about causes: the statement of a caller, and the ancestry of a run. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { eventId } from '../fields.ts';

/** How a run of another host requested this one. */
export const remoteCauses = ['mcp-tool-call', 'a2a-message'] as const;
export type RemoteCause = (typeof remoteCauses)[number];

const id = z.string().min(1).max(128);
const wellKnownUrl = z.url({ protocol: /^https?$/ }).max(2_048);

/**
 * A caller's statement of what causes its call: the run and the event on its own host. The callee records it if it
 * trusts the caller for that host, and uses it for nothing else.
 */
export const causation = z.strictObject({
  runId: id,
  hostId: id,
  eventId,
  wellKnownUrl,
  agentId: z.string().min(3).max(256).optional(),
  /** The number of runs above the one that is called, so that a circle of hosts ends. */
  depth: z.int().min(0).max(1_000).optional(),
});
export type Causation = DataOf<typeof causation>;

/** The key of the statement in the metadata of a run, and in `_meta` of an MCP request. */
export const CAUSATION_KEY = 'cairn.causation';

/** The run that a call started on another host, as that host says: in `_meta` of an MCP result. */
export const remoteRun = z.object({ runId: id, hostId: id, eventId });
export type RemoteRun = DataOf<typeof remoteRun>;

/** The parent of a run on another host, as its first event records it. */
export const remoteParent = z.looseObject({
  runId: id,
  hostId: id,
  wellKnownUrl: z.string().min(1),
  cause: z.enum(remoteCauses),
  agentId: z.string().optional(),
});
export type RemoteParent = DataOf<typeof remoteParent>;

/** How a run came to be below its parent. */
const ancestryCauses = [...remoteCauses, 'core.subWorkflow', 'core.dispatch'] as const;
export type AncestryCause = (typeof ancestryCauses)[number];

/** `GET /v1/runs/{runId}/ancestry`: the immediate parent. A parent on another host has the address of its discovery. */
export const ancestry = z.strictObject({
  runId: z.string(),
  hostId: z.string(),
  parent: z
    .strictObject({
      runId: z.string(),
      hostId: z.string(),
      cause: z.enum(ancestryCauses),
      wellKnownUrl: z.string().optional(),
    })
    .nullable(),
});
export type Ancestry = DataOf<typeof ancestry>;

/** An event with its recorded cause. One that the caller may not see has only its place. */
const causedEvent = z.strictObject({
  eventId: z.string(),
  sequence: z.int(),
  timestamp: z.string(),
  type: z.string().optional(),
  nodeId: z.string().optional(),
  agentId: z.string().optional(),
  causationId: z.string().optional(),
  /** Set if the cause is an event of another host. */
  causationHostId: z.string().optional(),
  /** The run that this call started on another host, and its last event, as that host says. */
  remote: remoteRun.optional(),
  /** Its hash in the chain of the run. Only the chain of one event has it. */
  hash: z.string().optional(),
});

/** `GET /v1/host/cairn/runs/{runId}/causes`: the recorded causes of a run's events. */
export const causes = z.strictObject({
  runId: z.string(),
  hostId: z.string(),
  /** A page in order of sequence; or, with `of`, the event, its cause, the cause of that, and so on. */
  events: z.array(causedEvent),
  /** The sequence to continue after, or the event to continue with; null at the end. */
  next: z.int().nullable(),
  /** The trace that the spans of the run belong to. Only the chain of one event has it. */
  traceId: z.string().optional(),
  /** The event that caused the first event of the run, here or on another host. */
  parent: z
    .strictObject({
      eventId: z.string(),
      runId: z.string(),
      hostId: z.string(),
      wellKnownUrl: z.string().optional(),
    })
    .nullable(),
});
export type Causes = DataOf<typeof causes>;
