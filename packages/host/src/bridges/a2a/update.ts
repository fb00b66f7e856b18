/** What A2A says about a task, in neither version's names: `v1.ts` and `v03.ts` write it. */

/** The states in the spelling of version 0.3. */
export type A2aState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'auth-required'
  | 'completed'
  | 'failed'
  | 'canceled';

/** Any JSON object. */
export type Data = Readonly<Record<string, unknown>>;

interface PartBase {
  readonly metadata?: Data;
  readonly filename?: string;
  readonly mediaType?: string;
}

/** Bytes are base64. */
export type A2aPart = PartBase &
  ({ readonly text: string } | { readonly bytes: string } | { readonly url: string } | { readonly data: Data });

export interface A2aMessage {
  readonly messageId: string;
  readonly role: 'user' | 'agent';
  readonly parts: readonly A2aPart[];
  readonly contextId: string;
  readonly taskId: string;
  readonly metadata?: Data;
}

export interface A2aStatus {
  readonly state: A2aState;
  readonly message?: A2aMessage;
  readonly timestamp: string;
}

export interface A2aArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly A2aPart[];
  readonly metadata?: Data;
}

export interface A2aTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  readonly artifacts: readonly A2aArtifact[];
  readonly history: readonly A2aMessage[];
  readonly metadata: Data;
}

export interface StatusUpdate {
  readonly type: 'status';
  readonly taskId: string;
  readonly contextId: string;
  readonly status: A2aStatus;
  /** The last update of the task. Version 1.0 has no word for it: the state says so. */
  readonly isFinal: boolean;
  readonly metadata: Data;
}

export interface ArtifactUpdate {
  readonly type: 'artifact';
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: A2aArtifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
  /** Where the host serves the whole artifact. Text that an agent says is no artifact of the host. */
  readonly storedAt: string | null;
}

export type A2aUpdate = { readonly type: 'task'; readonly task: A2aTask } | StatusUpdate | ArtifactUpdate;

/** States after which nothing follows. */
export const isTerminal = (state: A2aState): boolean =>
  state === 'completed' || state === 'failed' || state === 'canceled';
