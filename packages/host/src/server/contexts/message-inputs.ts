/** The inputs of a message: its text, also under the name that the task of the agent has for it. */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import { readAgentDefinition } from '../../agents/agent-definition.ts';
import type { AgentRegistry } from '../../agents/registry.ts';
import type { Definitions } from '../../log/ports/definitions.ts';
import { LruMap } from '../../lru-map.ts';

interface InputPorts {
  readonly registry: Pick<AgentRegistry, 'hashOf'>;
  readonly definitions: Pick<Definitions, 'get'>;
}

/** Definitions whose required fields are remembered. */
const REMEMBERED = 1_000;

/** The fields that a task must have, and the only one of them if it is a text. */
interface TaskFields {
  readonly required: readonly string[];
  readonly text: string | null;
}

const noFields: TaskFields = { required: [], text: null };

export class MessageInputs {
  readonly #ports: InputPorts;
  readonly #known = new LruMap<string, TaskFields>(REMEMBERED);

  constructor(ports: InputPorts) {
    this.#ports = ports;
  }

  /**
   * An agent whose task has a schema still takes plain messages, if the schema asks for one text. What asks for more can be
   * written as JSON.
   */
  async of(tenant: string, agentId: string, message: string): Promise<JsonObject> {
    const hash = await this.#ports.registry.hashOf(tenant, agentId);
    // Whether there is such an agent is checked when the run starts.
    const { required, text } = hash === null ? noFields : await this.#fieldsOf(hash);
    if (required.length === 0) return { message };
    const written = objectIn(message);
    if (written !== null && required.every((name) => Object.hasOwn(written, name))) return { ...written, message };
    return text === null ? { message } : { [text]: message, message };
  }

  async #fieldsOf(hash: string): Promise<TaskFields> {
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    const body = await this.#ports.definitions.get(hash);
    return this.#known.set(hash, body === null ? noFields : fieldsIn(readAgentDefinition(hash, body).taskSchema));
  }
}

function fieldsIn(schema: JsonObject | undefined): TaskFields {
  const given = schema?.required;
  const required = Array.isArray(given) ? given.filter((name) => typeof name === 'string') : [];
  const [only, ...more] = required;
  if (only === undefined || more.length > 0) return { required, text: null };
  const properties = isJsonObject(schema?.properties) ? schema.properties : {};
  const field = Object.hasOwn(properties, only) ? properties[only] : undefined;
  return { required, text: isJsonObject(field) && field.type === 'string' ? only : null };
}

/** Fields that the caller wrote as JSON. */
function objectIn(message: string): JsonObject | null {
  if (!message.trimStart().startsWith('{')) return null;
  try {
    const value: Json = JSON.parse(message);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
