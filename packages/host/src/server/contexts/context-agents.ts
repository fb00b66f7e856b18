/** Which agent a run is of, from the definition that it is pinned to. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ContextId, isJsonObject, type Json } from '@cairn/protocol';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { LruMap } from '../../lru-map.ts';

export interface AgentPorts {
  readonly definitions: Pick<Definitions, 'get'>;
  readonly contexts: Pick<Contexts, 'runs'>;
}

/** The agent id of work that no single agent does. */
const HOST_AGENT = 'core.system';

/** Definitions whose agent is remembered. */
const REMEMBERED = 1_000;

/** The newest tasks that are searched for one that an agent answered. Each edit of an artifact is a task, too. */
const SEARCHED = 10_000;
const PAGE = 100;

export class ContextAgents {
  readonly #ports: AgentPorts;
  readonly #known = new LruMap<string, string>(REMEMBERED);

  constructor(ports: AgentPorts) {
    this.#ports = ports;
  }

  /** The agent of a run of a single agent; the host's own id for any other run. */
  async of({ definitionHash }: RunRecord): Promise<string> {
    const known = this.#known.get(definitionHash);
    if (known !== undefined) return known;
    const body = await this.#ports.definitions.get(definitionHash);
    return this.#known.set(definitionHash, body === null ? HOST_AGENT : agentIn(body));
  }

  /** The agent that answered last in a context; null when none did. */
  async lastIn(contextId: ContextId): Promise<string | null> {
    let cursor: string | undefined;
    for (let searched = 0; searched < SEARCHED; searched += PAGE) {
      // The index answers at once, and others have their turn between two pages.
      if (searched > 0) await nextTurn();
      const page = await this.#ports.contexts.runs({ contextId, parentRunId: null, limit: PAGE, cursor });
      for (const run of page.runs) {
        const agentId = await this.of(run);
        if (agentId !== HOST_AGENT) return agentId;
      }
      if (page.nextCursor === null) return null;
      cursor = page.nextCursor;
    }
    return null;
  }
}

function agentIn(body: string): string {
  const definition: Json = JSON.parse(body);
  const nodes = isJsonObject(definition) && Array.isArray(definition.nodes) ? definition.nodes : [];
  const agents = nodes.flatMap((node) => {
    const agent = isJsonObject(node) && isJsonObject(node.agent) ? node.agent.agentId : undefined;
    return typeof agent === 'string' ? [agent] : [];
  });
  return agents.length === 1 && nodes.length === 1 ? (agents[0] ?? HOST_AGENT) : HOST_AGENT;
}
