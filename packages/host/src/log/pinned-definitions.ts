/** What `run.started` pins a run to: its context, and the definitions of its workflow, agents and prompt templates. */

export interface PinnedDefinitions {
  /** The context; null in rows that do not name it. */
  readonly startedIn: string | null;
  readonly workflow: string | null;
  /** All definitions, each once. */
  readonly hashes: readonly string[];
}

/** Reads the payload of `run.started`. A payload of another shape pins nothing. */
export function pinnedDefinitions(payload: unknown): PinnedDefinitions {
  const workflow = textAt(payload, 'definitionHash');
  return {
    startedIn: textAt(payload, 'contextId'),
    workflow,
    hashes: [
      ...new Set(
        [workflow, ...hashesAt(payload, 'agents'), ...hashesAt(payload, 'prompts')].filter((hash) => hash !== null),
      ),
    ],
  };
}

function hashesAt(payload: unknown, name: string): readonly (string | null)[] {
  const pins = memberOf(payload, name);
  return isObject(pins) ? Object.values(pins).map((pin) => textAt(pin, 'hash')) : [];
}

function textAt(value: unknown, name: string): string | null {
  const found = memberOf(value, name);
  return typeof found === 'string' ? found : null;
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
