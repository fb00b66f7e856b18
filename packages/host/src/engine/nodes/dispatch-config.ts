/** What a `core.dispatch` node may be told, and what of it is wrong. */
import type { JsonObject } from '@cairn/protocol';
import { type Mapping, mappingProblems } from '../family/mappings.ts';
import type { MemoryScopeIsolation } from '../family/memory-scope.ts';

export interface DispatchConfig {
  readonly askUserRouting?: 'conversation' | 'clarification' | 'auto';
  readonly workerDispatchModel?: 'child-run';
  readonly fanOutPolicy?: 'sequential' | 'reject' | 'parallel';
  /** Of workers side by side: all must complete, one is enough, or all are waited for whatever comes of them. */
  readonly joinPolicy?: (typeof joinPolicies)[number];
  /** What a worker that does not complete means where the join does not say. */
  readonly onChildFailure?: 'fail-parent' | 'absorb';
  readonly iterationCap?: number;
  readonly inputMapping?: Mapping;
  readonly outputMapping?: Mapping;
  readonly perWorkerInputMappings?: Readonly<Record<string, Mapping>>;
  readonly perWorkerOutputMappings?: Readonly<Record<string, Mapping>>;
  /** Workers remember apart from this run; left out, together with it. */
  readonly memoryScopeIsolation?: MemoryScopeIsolation;
}

/** What becomes of workers side by side. */
export const joinPolicies = ['all', 'any', 'settled'] as const;

/** Most workers side by side: what is said of them when they are joined is one event. */
export const MAX_FAN_OUT = 256;

const choices: Readonly<Record<string, readonly string[]>> = {
  askUserRouting: ['conversation', 'clarification', 'auto'],
  workerDispatchModel: ['child-run'],
  fanOutPolicy: ['sequential', 'reject', 'parallel'],
  joinPolicy: joinPolicies,
  onChildFailure: ['fail-parent', 'absorb'],
  memoryScopeIsolation: ['isolated'],
};

const others = [
  'iterationCap',
  'inputMapping',
  'outputMapping',
  'perWorkerInputMappings',
  'perWorkerOutputMappings',
] as const;

export function dispatchProblems(config: JsonObject): readonly string[] {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(config)) {
    const allowed = Object.hasOwn(choices, name) ? choices[name] : undefined;
    if (allowed === undefined && !others.includes(name as (typeof others)[number])) {
      problems.push(`config.${name} is not known`);
    } else if (allowed !== undefined && !allowed.includes(value as string)) {
      problems.push(`config.${name} must be one of ${allowed.join(', ')}`);
    }
  }
  const { iterationCap, joinPolicy, fanOutPolicy } = config;
  if (iterationCap !== undefined && !(Number.isSafeInteger(iterationCap) && (iterationCap as number) >= 1)) {
    problems.push('config.iterationCap must be a whole number of at least 1');
  }
  if (joinPolicy !== undefined && fanOutPolicy !== 'parallel') {
    problems.push('config.joinPolicy is for the fanOutPolicy parallel');
  }
  for (const name of ['inputMapping', 'outputMapping']) problems.push(...mappingProblems(name, config[name]));
  for (const name of ['perWorkerInputMappings', 'perWorkerOutputMappings']) {
    problems.push(...workerMappingProblems(name, config[name]));
  }
  return problems;
}

function workerMappingProblems(name: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`config.${name} must be an object`];
  return Object.entries(value).flatMap(([worker, mapping]) => mappingProblems(`${name}.${worker}`, mapping));
}

/** The mapping for this worker, or the one for all. */
export const mappingFor = (
  perWorker: Readonly<Record<string, Mapping>> | undefined,
  workerId: string,
  usual: Mapping | undefined,
): Mapping => (perWorker !== undefined && Object.hasOwn(perWorker, workerId) ? perWorker[workerId] : usual) ?? {};
