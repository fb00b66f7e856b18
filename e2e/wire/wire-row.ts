/** One rule of the protocol as data: the setup, the request, and the required response. */
import type { Json, JsonObject } from '@cairn/protocol';

/** The callers: two tenants. The first has two principals with full access and some with less. */
export type Who =
  | 'ann'
  | 'bob'
  | 'zoe'
  | 'reader'
  | 'creator'
  | 'starter'
  | 'keeper'
  | 'operator'
  | 'auditor'
  | 'nobody'
  | 'unknown';

export interface Ask {
  /** `METHOD /path`. `{name}` is replaced by a value from `given`. */
  readonly to: string;
  /** Default `ann`; `nobody` sends no key. */
  readonly as?: Who;
  /** JSON, in which text may contain `{name}`. `raw` is sent unchanged. */
  readonly body?: Json;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly error?: string;
  /** A subset of `details`. */
  readonly details?: object;
  /** A subset of the body. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  /** For bodies that are not JSON. */
  readonly text?: RegExp;
}

export type Names = Readonly<Record<string, string>>;

/** The operations a row can use for its setup. */
export interface Stage {
  /** Sends a request and returns the response body. Throws unless the request succeeds. */
  told(ask: Ask): Promise<Readonly<Record<string, unknown>>>;
  /** Creates a run of one of the workflows and waits until it has the status. */
  run(workflow: 'done' | 'asks' | 'sleeps' | 'expires', status: string): Promise<string>;
  /** Imports a run that waits on another host. */
  imported(): Promise<string>;
  /** Creates a run with a child that waits, or that has failed, and returns the child's id. */
  child(workflow?: 'asks' | 'detached' | 'expires'): Promise<string>;
  /** Waits until the run has the status. */
  reaches(run: string, status: string): Promise<void>;
}

export interface WireRow {
  /** The section of the wire reference. */
  readonly at: string;
  readonly says: string;
  readonly given?: (stage: Stage) => Promise<Names>;
  readonly ask: Ask;
  readonly answer: Answer;
}

/** A workflow of one node, `n0`. */
export function definition(id: string, typeId: string, config: JsonObject): JsonObject {
  const node = { id: 'n0', typeId, name: 'n0', position: { x: 0, y: 0 }, config, inputs: {} };
  const rest = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
  return { id, name: id, version: '1', nodes: [node], ...rest };
}

/** Creates runs in each state, for the rows that need one. */
export const given = {
  done: async (stage: Stage): Promise<Names> => ({ run: await stage.run('done', 'completed') }),
  waiting: async (stage: Stage): Promise<Names> => ({ run: await stage.run('asks', 'waiting-approval') }),
  expired: async (stage: Stage): Promise<Names> => ({ run: await stage.run('expires', 'failed') }),
  sleeping: async (stage: Stage): Promise<Names> => ({ run: await stage.run('sleeps', 'running') }),
  imported: async (stage: Stage): Promise<Names> => ({ run: await stage.imported() }),
  async cancelled(stage: Stage): Promise<Names> {
    const names = await given.waiting(stage);
    await stage.told({ to: `POST /v1/runs/${names.run}/cancel` });
    await stage.reaches(names.run ?? '', 'cancelled');
    return names;
  },
  async paused(stage: Stage): Promise<Names> {
    const names = await given.sleeping(stage);
    await stage.told({ to: `POST /v1/runs/${names.run}:pause`, body: { drainPolicy: 'immediate' } });
    await stage.reaches(names.run ?? '', 'paused');
    return names;
  },
  async answered(stage: Stage): Promise<Names> {
    const names = await given.waiting(stage);
    await stage.told({ to: `POST /v1/runs/${names.run}/interrupts/n0`, body: { resumeValue: { action: 'accept' } } });
    await stage.reaches(names.run ?? '', 'completed');
    return names;
  },
  token: (intent: 'resolve' | 'inspect') => async (stage: Stage) => {
    const names = await given.waiting(stage);
    const { token } = await stage.told({
      to: `POST /v1/host/cairn/runs/${names.run}/interrupts/n0/token`,
      body: { intent },
    });
    return { ...names, token: String(token) };
  },
};
