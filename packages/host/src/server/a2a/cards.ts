/** Agent cards: what peers learn about this host and its agents, in the form of each version. */
import { type AgentInventoryEntry, agentIdProblem } from '@cairn/protocol';
import type { AgentRegistry } from '../../agents/registry.ts';
import { RpcError } from './rpc.ts';
import type { A2aVersion } from './versions.ts';

export interface CardPorts {
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly baseUrl: () => string;
  /** The version of this program. */
  readonly version: string;
  /** The versions that are served, the preferred one first. */
  readonly versions: readonly A2aVersion[];
  readonly defaultAgent: string | undefined;
}

export interface CardRequest {
  readonly version: A2aVersion;
  /** The agent whose card it is; undefined for that of the host. */
  readonly agentId: string | undefined;
}

/** Text and data are read and written. */
const MODES = ['text/plain', 'application/json'];

type Skill = Pick<AgentInventoryEntry, 'agentId' | 'label' | 'description' | 'persona'>;

/** Agents of the whole host, whatever its tenants installed. No tenant has an empty name. */
const NO_TENANT = '';

export class Cards {
  readonly #ports: CardPorts;

  constructor(ports: CardPorts) {
    this.#ports = ports;
  }

  /** For everybody: it names the default agent alone, and only if all tenants have it. */
  async open(version: A2aVersion): Promise<object> {
    const { defaultAgent } = this.#ports;
    const agents = await this.#ports.registry.agents(NO_TENANT);
    const skills = agents.filter(({ agentId }) => agentId === defaultAgent);
    return this.#card({ version, agentId: undefined }, skills);
  }

  /** For an authenticated caller: every agent that its tenant may use, or the one of the path. */
  async extended(tenant: string, request: CardRequest): Promise<object> {
    const agents = await this.#ports.registry.agents(tenant);
    const { agentId } = request;
    const skills = agentId === undefined ? agents : agents.filter((agent) => agent.agentId === agentId);
    if (agentId !== undefined && skills.length === 0) throw noAgent(agentId);
    return this.#card(request, skills);
  }

  #card({ version, agentId }: CardRequest, agents: readonly Skill[]): object {
    const [only] = agents;
    const isOne = agentId !== undefined && only !== undefined;
    const about = {
      name: isOne ? only.label : 'Cairn',
      description: isOne
        ? (only.description ?? only.persona)
        : 'Agents of a Cairn host. Messages go to its default agent.',
      version: this.#ports.version,
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills: agents.map(skillOf),
    };
    const mount = agentId === undefined ? '' : `/${encodeURIComponent(agentId)}`;
    const url = `${this.#ports.baseUrl()}/v1/a2a${mount}`;
    const capabilities = { streaming: true, pushNotifications: false };
    return version === '1.0'
      ? {
          ...about,
          supportedInterfaces: this.#ports.versions.map((protocolVersion) => ({
            url,
            protocolBinding: 'JSONRPC',
            protocolVersion,
          })),
          capabilities: { ...capabilities, extendedAgentCard: true },
          securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
          securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        }
      : {
          ...about,
          protocolVersion: '0.3.0',
          url,
          preferredTransport: 'JSONRPC',
          capabilities,
          supportsAuthenticatedExtendedCard: true,
          securitySchemes: { bearer: { type: 'http', scheme: 'Bearer' } },
          security: [{ bearer: [] }],
        };
  }
}

/** The id of a skill is that of its agent. */
const skillOf = ({ agentId, label, description, persona }: Skill) => ({
  id: agentId,
  name: label,
  description: description ?? persona,
  tags: ['agent'],
});

const noAgent = (agentId: string): RpcError =>
  new RpcError(
    'params',
    agentIdProblem(agentId) === null ? `There is no agent ${agentId}.` : 'There is no such agent.',
  );
