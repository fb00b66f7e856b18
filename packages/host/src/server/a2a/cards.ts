/** Agent cards: what peers learn about this host, its agents and its workflows, in the form of each version. */
import type { AgentRegistry } from '../../agents/registry.ts';
import type { Caller } from '../access/auth.ts';
import type { WorkflowFace } from '../catalogue/workflow-faces.ts';
import { RpcError } from './rpc.ts';
import type { A2aVersion } from './versions.ts';
import { isWorkflowId, listedWorkflows, type WorkflowPorts, workflowFace } from './workflows.ts';

export interface CardPorts extends WorkflowPorts {
  readonly registry: Pick<AgentRegistry, 'agents'>;
  readonly runsAgents: boolean;
  readonly baseUrl: () => string;
  /** The version of this program. */
  readonly version: string;
  /** The versions that are served, the preferred one first. */
  readonly versions: readonly A2aVersion[];
  readonly defaultAgent: string | undefined;
}

export interface CardRequest {
  readonly version: A2aVersion;
  /** The agent or workflow whose card it is; undefined for that of the host. */
  readonly skillId: string | undefined;
}

/** Text and data are read and written. */
const MODES = ['text/plain', 'application/json'];

/** The id of a skill is that of its agent or workflow. */
interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Agents of the whole host, whatever its tenants installed. No tenant has an empty name. */
const NO_TENANT = '';

export class Cards {
  readonly #ports: CardPorts;

  constructor(ports: CardPorts) {
    this.#ports = ports;
  }

  /** The public card: it names the default agent alone, and only if all tenants have it. */
  async open(version: A2aVersion): Promise<object> {
    const { defaultAgent } = this.#ports;
    const agents = await this.#agents(NO_TENANT);
    return this.#card(
      { version, skillId: undefined },
      agents.filter(({ id }) => id === defaultAgent),
    );
  }

  /** For an authenticated caller: everything that it may start, or what the path names. */
  async extended({ tenant, scopes }: Caller, request: CardRequest): Promise<object> {
    const { skillId } = request;
    const skills = skillId === undefined ? await this.#all(tenant) : await this.#named(tenant, skillId);
    // Skills are what a caller can send messages to.
    return this.#card(request, skillId !== undefined || scopes.has('runs:create') ? skills : []);
  }

  async #all(tenant: string): Promise<readonly Skill[]> {
    const workflows = (await listedWorkflows(tenant, this.#ports)).map(workflowSkill);
    return [...(await this.#agents(tenant)), ...workflows];
  }

  async #named(tenant: string, skillId: string): Promise<readonly Skill[]> {
    if (isWorkflowId(skillId)) return [workflowSkill(await workflowFace(tenant, skillId, this.#ports))];
    const agent = (await this.#agents(tenant)).find(({ id }) => id === skillId);
    if (agent === undefined) throw new RpcError('params', 'There is no such agent or workflow.');
    return [agent];
  }

  async #agents(tenant: string): Promise<readonly Skill[]> {
    const { registry, runsAgents } = this.#ports;
    const agents = runsAgents ? await registry.agents(tenant) : [];
    return agents.map(({ agentId, label, description, persona }) => ({
      id: agentId,
      name: label,
      description: description ?? persona,
      tags: ['agent'],
    }));
  }

  #card({ version, skillId }: CardRequest, skills: readonly Skill[]): object {
    const [only] = skills;
    const isOne = skillId !== undefined && only !== undefined;
    const about = {
      name: isOne ? only.name : 'Cairn',
      description: isOne ? only.description : ABOUT,
      version: this.#ports.version,
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills,
    };
    const mount = skillId === undefined ? '' : `/${encodeURIComponent(skillId)}`;
    const url = `${this.#ports.baseUrl()}/v1/a2a${mount}`;
    const capabilities = { streaming: true, pushNotifications: true };
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

const ABOUT =
  'Agents and workflows of a Cairn host. Messages go to its default agent; those to /v1/a2a/{id} go to the skill with this id.';

const workflowSkill = ({ id, name, description }: WorkflowFace): Skill => ({
  ...{ id, name, description },
  tags: ['workflow'],
});
