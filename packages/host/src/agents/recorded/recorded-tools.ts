/**
 * The tools and the operator's policy of a host, as far as a record shows them. The rest of an authorization is decided
 * again: the manifest's list, the list of the run and the scopes of its starter.
 */
import { isJsonObject, type Json, type JsonObject } from '@cairn/protocol';
import type { Sha256, StepSafety } from '../../engine/ports.ts';
import { canonicalText } from '../../engine/values/canonical.ts';
import { toolCallId, turnOfModelCall } from '../loop/calls/call-ids.ts';
import type { CheckedInput, Tool } from '../tools/tool.ts';
import { loopTools, modelName, type ToolLookup } from '../tools/tool-registry.ts';
import { RecordedPolicy } from './recorded-policy.ts';

const safeties: readonly string[] = ['pure', 'read', 'write', 'idempotent'] satisfies readonly StepSafety[];

/** The loop answers these itself. */
const loopToolIds: readonly string[] = Object.values(loopTools);

const isSafety = (value: Json | undefined): value is StepSafety =>
  typeof value === 'string' && safeties.includes(value);

/** What a host said about one call with these arguments. */
interface KnownCall {
  readonly safety: StepSafety;
  /** Why it refused the arguments. */
  readonly problem?: string;
}

interface AskedCall {
  /** As the model wrote it. */
  readonly name: string;
  /** Its arguments are JSON, so that the tool checked them. */
  readonly isReadable: boolean;
}

interface RefusedCall extends Pick<AskedCall, 'isReadable'> {
  readonly key: string;
}

export class RecordedTools implements ToolLookup {
  readonly policy = new RecordedPolicy();
  readonly #sha256: Sha256;
  readonly #tools = new Map<string, Tool>();
  readonly #names = new Map<string, string>();
  /** Keyed by tool and hash of the arguments. */
  readonly #calls = new Map<string, KnownCall>();
  /** Whether the results of a tool are trusted. */
  readonly #trust = new Map<string, boolean>();
  /** The calls of a model's turn, by the id that each call will have; until it is in the record. */
  readonly #asked = new Map<string, AskedCall>();
  /** Calls without a rule, by their id: their refusal follows. */
  readonly #refused = new Map<string, RefusedCall>();

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  /** A record does not show the tools that were never called. */
  readonly all: readonly Tool[] = [];

  get(toolId: string): Tool | undefined {
    return this.#tools.get(toolId);
  }

  nameOf(toolId: string): string {
    return modelName(toolId);
  }

  called(name: string): Tool | undefined {
    return this.#tools.get(this.#names.get(name) ?? name);
  }

  learnTurn({ callId, turn }: JsonObject): void {
    if (!isJsonObject(turn) || !Array.isArray(turn.toolCalls)) return;
    const asked = turnOfModelCall(String(callId));
    for (const [index, call] of turn.toolCalls.entries()) {
      if (!isJsonObject(call) || typeof call.name !== 'string') continue;
      this.#asked.set(toolCallId(asked, index), { name: call.name, isReadable: call.invalid === undefined });
    }
  }

  learnCall({ callId, toolId, argsHash, safety, rule }: JsonObject): void {
    if (typeof toolId !== 'string' || typeof callId !== 'string' || !isSafety(safety)) return;
    if (loopToolIds.includes(toolId)) return;
    const { name = toolId, isReadable = true } = this.#asked.get(callId) ?? {};
    this.#asked.delete(callId);
    const key = `${toolId} ${argsHash}`;
    // A name that the host has no tool for stands for itself.
    if (name !== toolId) {
      this.#names.set(name, toolId);
      this.#add(toolId);
    }
    if (typeof rule !== 'string') {
      this.#refused.set(callId, { key, isReadable });
      return;
    }
    this.#add(toolId);
    this.#calls.set(key, { safety });
    this.policy.allowed(rule);
  }

  learnReturn({ callId, toolId, error, contentTrust }: JsonObject): void {
    if (typeof toolId !== 'string') return;
    const refused = this.#refused.get(String(callId));
    this.#refused.delete(String(callId));
    if (refused === undefined) this.#trust.set(toolId, contentTrust !== 'untrusted');
    else if (isJsonObject(error)) this.#learnRefusal(toolId, refused, error);
  }

  /** The refusal of a call follows it at once. */
  #learnRefusal(toolId: string, refused: RefusedCall, error: JsonObject): void {
    const { code, message, details } = error;
    if (code === 'tool_not_found') this.#tools.delete(toolId);
    else if (code === 'forbidden' && isJsonObject(details)) {
      const { rule, requiredScopes } = details;
      this.#add(toolId, Array.isArray(requiredScopes) ? requiredScopes.map(String) : []);
      this.policy.denied(String(rule), toolId);
    } else if (code === 'tool_invalid_arguments') {
      const [, problem] = /^The arguments of \S+ are wrong: (.*)\.$/s.exec(String(message)) ?? [];
      if (problem === undefined) return;
      this.#add(toolId);
      this.policy.passed(toolId);
      if (refused.isReadable) this.#calls.set(refused.key, { safety: 'pure', problem });
    }
  }

  #add(toolId: string, needs: readonly string[] = []): void {
    if (this.#tools.has(toolId) && needs.length === 0) return;
    const known = (input: Json) => this.#calls.get(`${toolId} ${this.#sha256(canonicalText(input), 'hex')}`);
    const isTrusted = () => this.#trust.get(toolId) ?? false;
    this.#tools.set(toolId, recordedTool(toolId, { needs, known, isTrusted }));
  }
}

interface KnownTool {
  readonly needs: readonly string[];
  readonly known: (input: Json) => KnownCall | undefined;
  readonly isTrusted: () => boolean;
}

const recordedTool = (id: string, { needs, known, isTrusted }: KnownTool): Tool => ({
  id,
  description: '',
  inputSchema: {},
  safety: 'write',
  timeoutMs: 0,
  needs,
  secrets: [],
  get untrusted() {
    return !isTrusted();
  },
  egress: 'none',
  check(input): CheckedInput {
    const problem = known(input)?.problem;
    return problem === undefined ? { ok: true, input } : { ok: false, problems: [problem] };
  },
  safetyOf: (input) => known(input)?.safety ?? 'write',
  run: () => Promise.reject(new Error(`The tool ${id} of a record cannot be called.`)),
  outputProblems: () => [],
});
