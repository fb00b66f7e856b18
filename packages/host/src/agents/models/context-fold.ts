/** What a fold of a context keeps for conversations. */
import type { RunId } from '@cairn/protocol';

/** One utterance and its position in the context. */
export interface Said {
  readonly cursor: number;
  /** Number of characters in the context before this utterance. */
  readonly offset: number;
  readonly runId: string;
  readonly by:
    | 'user'
    | 'host'
    | { readonly agentId: string; readonly room: string }
    /** The task that a node gave to an agent. */
    | { readonly taskOf: string; readonly room: string };
  readonly text: string;
}

/** What a run is called in a fold: a fork has the name of its source, so that it goes on in the same rooms. */
export interface RunName {
  readonly name: RunId;
  /** Its first row that is not shared with its source. */
  readonly ownFrom: number;
}

/** The state that a conversation needs from a context's rows. It advances row by row, in cursor order. */
export interface ContextFold {
  /** The cursor of the last folded row. */
  cursor: number;
  /** Runs of a context that goes on from others. Elsewhere it is empty, and each run has its own name. */
  readonly names: Map<string, RunName>;
  said: Said[];
  /** What was asked in each run, of what is held. */
  readonly asked: Map<string, Set<string>>;
  /** Total characters of all utterances with what each costs besides, including dropped ones. */
  characters: number;
  /** Utterances before this offset are dropped. */
  forgotten: number;
  /** Maps each child run to the root run of its tree. */
  readonly roots: Map<string, string>;
  /** Runs that were done again, and the cursor of the retry: invocations after it do not hear them. */
  readonly retried: Map<string, number>;
  /** Active runs in which an agent of another system worked, by the id of the agent here. */
  readonly peers: Map<string, string>;
  /** The agent that is active at a node of a run. */
  readonly speakers: Map<string, { readonly agentId: string; readonly room: string | null }>;
}

export const emptyContext = (): ContextFold => ({
  cursor: 0,
  names: new Map(),
  said: [],
  asked: new Map(),
  characters: 0,
  forgotten: 0,
  roots: new Map(),
  retried: new Map(),
  peers: new Map(),
  speakers: new Map(),
});
